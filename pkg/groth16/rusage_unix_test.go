//go:build unix

package groth16

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the processor time of this process: on a shared machine the fairer measure.
func cpuTime(t testing.TB) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
