package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Free space below which a disk warns or fails.
const (
	warnFree = 4 << 30
	failFree = 128 << 20
)

// leastFiles is the number of open files that a service with some hundred connections and its key files needs.
const leastFiles = 4096

// Files looks at the limit of open files.
func Files() Check {
	c := Check{Name: "open files"}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		c.Status, c.Text = Skipped, err.Error()
		return c
	}
	return files(c, uint64(limit.Cur), uint64(limit.Max)) //nolint:unconvert // signed on some systems
}

func files(c Check, soft, hard uint64) Check {
	c.Status, c.Details = OK, map[string]any{"soft": soft, "hard": hard}
	c.Text = fmt.Sprintf("limit %d", soft)
	if soft < leastFiles {
		c.Status, c.Do = Warning, fmt.Sprintf("raise it to %d or more: ulimit -n, or LimitNOFILE= of the service", leastFiles)
	}
	return c
}

// Disk looks at the free space where a directory is, or will be: the nearest directory above that is there counts.
func Disk(what, dir string) Check {
	c := Check{Name: "disk for " + what}
	at, err := nearest(dir)
	if err != nil {
		c.Status, c.Text, c.Do = Failed, err.Error(), "choose a directory that can be read"
		return c
	}
	var s unix.Statfs_t
	if err := unix.Statfs(at, &s); err != nil {
		c.Status, c.Text = Skipped, fmt.Sprintf("%s: %v", at, err)
		return c
	}
	block := uint64(s.Bsize) //nolint:gosec // positive
	return disk(c, dir, s.Bavail*block, s.Blocks*block)
}

func disk(c Check, dir string, free, total uint64) Check {
	c.Status, c.Details = OK, map[string]any{"directory": dir, "free_bytes": free, "total_bytes": total}
	c.Text = fmt.Sprintf("%s free of %s at %s", gib(free), gib(total), dir)
	switch {
	case free < failFree:
		c.Status, c.Do = Failed, "make room, or choose another directory"
	case free < warnFree:
		c.Status, c.Do = Warning, "make room: parameters and waiting blobs take gigabytes"
	}
	return c
}

func nearest(dir string) (string, error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		_, err := os.Stat(at)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return at, err
		}
		at = filepath.Dir(at)
	}
}
