package doctor

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// lowMemory is the least with which the small test circuits are proved at ease.
const lowMemory = 4 << 30

// Memory compares the machine's memory with the limit of the control group, of root's proc and sys. goLimit is GOMEMLIMIT.
func Memory(root fs.FS, goLimit string) Check {
	c := Check{Name: "memory", Status: OK}
	total, available, err := memInfo(root)
	if err != nil {
		c.Status, c.Text = Skipped, "it is known only on Linux: "+err.Error()
		return c
	}
	c.Details = map[string]any{"total_bytes": total, "available_bytes": available}
	c.Text = fmt.Sprintf("%s, %s available", gib(total), gib(available))
	usable := total
	if limit, ok := groupLimit(root); ok {
		c.Details["cgroup_limit_bytes"] = limit
		if limit < total {
			usable = limit
			c.Text += ", the control group allows " + gib(limit)
			if goLimit == "" {
				c.Status = Warning
				c.Do = fmt.Sprintf("set GOMEMLIMIT to some %d MiB, so that the collector works before the kernel kills", limit/10*9>>20)
			}
		}
	}
	if usable < lowMemory {
		c.Status, c.Do = Warning, "give it at least 4 GiB; circuits of 32GiB sectors need far more"
	}
	return c
}

// memInfo reads MemTotal and MemAvailable, in bytes.
func memInfo(root fs.FS) (total, available uint64, err error) {
	text, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[2] != "kB" {
			continue
		}
		kib, err := strconv.ParseUint(fields[1], 10, 50)
		if err != nil {
			return 0, 0, fmt.Errorf("proc/meminfo: %w", err)
		}
		switch fields[0] {
		case "MemTotal:":
			total = kib << 10
		case "MemAvailable:":
			available = kib << 10
		}
	}
	if total == 0 {
		return 0, 0, fmt.Errorf("proc/meminfo does not tell MemTotal")
	}
	return total, available, nil
}

// groupLimit is the lowest memory limit on the way from the process's control group to the root, of either version.
func groupLimit(root fs.FS) (limit uint64, ok bool) {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		var base, file string
		switch {
		case fields[0] == "0" && fields[1] == "":
			base, file = "sys/fs/cgroup", "memory.max"
		case fields[1] == "memory":
			base, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for dir := path.Join("/", fields[2]); ; dir = path.Dir(dir) {
			// A container sees its own group as the root, whatever the path says: groups that are not there are passed over.
			if value, err := fs.ReadFile(root, path.Join(base, dir, file)); err == nil {
				// No limit is the word max, or in version 1 a number near 2^63.
				if n, err := strconv.ParseUint(strings.TrimSpace(string(value)), 10, 64); err == nil && n < 1<<60 && (!ok || n < limit) {
					limit, ok = n, true
				}
			}
			if dir == "/" {
				break
			}
		}
	}
	return limit, ok
}
