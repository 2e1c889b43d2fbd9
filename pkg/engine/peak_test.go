package engine

import (
	"bytes"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
)

// peak measures the most resident memory of the process from its start on, where the system counts that (Linux).
type peak bool

func startPeak(b *testing.B) peak {
	b.Helper()
	debug.FreeOSMemory()
	const resetPeak = "5"
	return os.WriteFile("/proc/self/clear_refs", []byte(resetPeak), 0o600) == nil
}

// report adds the metric MiB-peak to the benchmark.
func (p peak) report(b *testing.B) {
	b.Helper()
	if !p {
		return
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	_, after, found := bytes.Cut(status, []byte("VmHWM:"))
	fields := bytes.Fields(after)
	if !found || len(fields) == 0 {
		return
	}
	kib, err := strconv.Atoi(string(fields[0]))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(kib)/1024, "MiB-peak")
}
