//go:build !unix

package groth16

import (
	"testing"
	"time"
)

// cpuTime is unknown here.
func cpuTime(testing.TB) time.Duration { return 0 }
