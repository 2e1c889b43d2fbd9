package doctor

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// machine is a file system of a machine with the given files.
func machine(files map[string]string) fstest.MapFS {
	root := fstest.MapFS{}
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return root
}

const goodFlags = "fpu adx bmi2 sha_ni avx512f avx512ifma"

func cpuinfo(flags string) string {
	one := "model name\t: Xeon\nflags\t\t: " + flags + "\n\n"
	return "processor\t: 0\n" + one + "processor\t: 1\n" + one
}

func TestProcessorsWithoutWideMultiplicationWarn(t *testing.T) {
	for name, test := range map[string]struct {
		flags, arch string
		status      Status
		text        string
	}{
		"all":      {goodFlags, "amd64", OK, "Xeon, 2 threads, with ADX, BMI2, SHA, AVX-512, AVX-512 IFMA"},
		"no adx":   {"fpu bmi2 sha_ni", "amd64", Warning, "Xeon, 2 threads, with BMI2, SHA, without ADX, AVX-512, AVX-512 IFMA"},
		"no extra": {"adx bmi2", "amd64", OK, "Xeon, 2 threads, with ADX, BMI2, without SHA, AVX-512, AVX-512 IFMA"},
		"none":     {"fpu", "amd64", Warning, "Xeon, 2 threads, without ADX, BMI2, SHA, AVX-512, AVX-512 IFMA"},
		"arm":      {goodFlags, "arm64", Warning, "Xeon, 2 threads, arm64: the arithmetic has no assembly for it"},
	} {
		c := CPU(machine(map[string]string{"proc/cpuinfo": cpuinfo(test.flags)}), test.arch)
		if c.Status != test.status || c.Text != test.text || (c.Status == Warning) != (c.Do != "") {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if c := CPU(machine(nil), "amd64"); c.Status != Skipped {
		t.Errorf("without cpuinfo: %+v", c)
	}
}

func TestMemoryIsWhatTheControlGroupAllows(t *testing.T) {
	const info = "MemTotal:       33554432 kB\nMemFree:  1 kB\nMemAvailable:   16777216 kB\nHugePages_Total:  0\n"
	for name, test := range map[string]struct {
		files   map[string]string
		goLimit string
		status  Status
		text    string
	}{
		"no group": {nil, "", OK, "32.0 GiB, 16.0 GiB available"},
		"no limit": {map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}, "", OK, "32.0 GiB, 16.0 GiB available"},
		"limit above, path not seen": {
			map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/memory.max": "8589934592\n"}, "",
			Warning, "32.0 GiB, 16.0 GiB available, the control group allows 8.0 GiB",
		},
		"lowest counts": {
			map[string]string{
				"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "8589934592\n", "sys/fs/cgroup/a/b/memory.max": "17179869184\n",
			}, "7GiB", OK, "32.0 GiB, 16.0 GiB available, the control group allows 8.0 GiB",
		},
		"version 1": {
			map[string]string{"proc/self/cgroup": "5:memory:/a\n2:cpu:/\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "1073741824\n"}, "1GiB",
			Warning, "32.0 GiB, 16.0 GiB available, the control group allows 1.0 GiB",
		},
		"version 1 without": {
			map[string]string{"proc/self/cgroup": "5:memory:/a\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "9223372036854771712\n"}, "",
			OK, "32.0 GiB, 16.0 GiB available",
		},
	} {
		root := machine(test.files)
		root["proc/meminfo"] = &fstest.MapFile{Data: []byte(info)}
		if c := Memory(root, test.goLimit); c.Status != test.status || c.Text != test.text || (c.Status == Warning) != (c.Do != "") {
			t.Errorf("%s: %+v", name, c)
		}
	}
	for name, text := range map[string]string{"empty": "", "not a number": "MemTotal: x kB\n"} {
		if c := Memory(machine(map[string]string{"proc/meminfo": text}), ""); c.Status != Skipped {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestLimitsAndDisksHaveThresholds(t *testing.T) {
	for soft, want := range map[uint64]Status{1024: Warning, 4096: OK, 1 << 20: OK} {
		if c := files(Check{}, soft, 1<<20); c.Status != want {
			t.Errorf("limit %d: %+v", soft, c)
		}
	}
	for free, want := range map[uint64]Status{0: Failed, 100 << 20: Failed, 1 << 30: Warning, 5 << 30: OK} {
		if c := disk(Check{}, "/x", free, 1<<40); c.Status != want || (want != OK) != (c.Do != "") {
			t.Errorf("%d free: %+v", free, c)
		}
	}
	dir := t.TempDir()
	at, err := nearest(filepath.Join(dir, "not", "there"))
	if err != nil || at != dir {
		t.Errorf("nearest is %s, %v", at, err)
	}
	if c := Disk("state", filepath.Join(dir, "not", "there")); c.Details["total_bytes"] == nil || !strings.Contains(c.Text, dir) {
		t.Errorf("disk: %+v", c)
	}
}

func TestReportHasTheWorstStatus(t *testing.T) {
	for _, test := range []struct {
		in   []Status
		want Status
	}{
		{nil, OK}, {[]Status{OK, Skipped}, OK}, {[]Status{OK, Warning, OK}, Warning}, {[]Status{Failed, Warning, OK}, Failed}, {[]Status{Warning, Failed}, Failed},
	} {
		var checks []Check
		failures := 0
		for _, s := range test.in {
			checks = append(checks, Check{Status: s})
			if s == Failed {
				failures++
			}
		}
		if r := Summarize(checks); r.Status != test.want || r.Failures() != failures {
			t.Errorf("%v: %s, %d failures", test.in, r.Status, r.Failures())
		}
	}
}
