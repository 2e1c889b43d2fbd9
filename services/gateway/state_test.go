package gateway

import (
	"fmt"
	"testing"
	"time"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/wire"
)

func key(n int) wire.JobKey {
	return wire.JobKey{Account: "main", ID: wire.JobID(wire.SumOf(fmt.Append(nil, n)).String())}
}

// Public inputs in memory stay within the limit, the last used stay longest.
func TestPublicsCacheIsBounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := newPublicsCache(100 * fr.Bytes)
		kept := map[wire.JobKey]int{}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			k := key(rapid.IntRange(0, 5).Draw(rt, "job"))
			switch rapid.IntRange(0, 2).Draw(rt, "what") {
			case 0:
				n := rapid.IntRange(1, 120).Draw(rt, "inputs")
				c.put(k, [][]fr.Element{make([]fr.Element, n)})
				kept[k] = n
				if got := c.get(k); len(got) != 1 || len(got[0]) != n {
					rt.Fatal("what was put is not there")
				}
			case 1:
				if got := c.get(k); len(got) > 0 && len(got[0]) != kept[k] {
					rt.Fatal("another job's public inputs")
				}
			default:
				c.drop(k)
				if c.get(k) != nil {
					rt.Fatal("what was dropped is there")
				}
			}
			if c.bytes > c.limit && c.order.Len() > 1 || len(c.known) != c.order.Len() {
				rt.Fatalf("%d bytes in %d entries", c.bytes, c.order.Len())
			}
		}
	})
}

func TestExpiryWaitsForTheNearest(t *testing.T) {
	e := newExpiry()
	if got := e.wait(time.Minute); got != time.Minute {
		t.Errorf("without deadlines: %v", got)
	}
	now := time.Now()
	e.add(0)
	e.add(wire.MillisOf(now.Add(40 * time.Second)))
	e.add(wire.MillisOf(now.Add(20 * time.Second)))
	e.add(wire.MillisOf(now.Add(30 * time.Second)))
	if got := e.wait(time.Minute); got > 20*time.Second || got < 10*time.Second {
		t.Errorf("nearest of three: %v", got)
	}
	select {
	case <-e.sooner:
	default:
		t.Error("nobody was woken")
	}
	if e.reset(); e.wait(time.Minute) != time.Minute {
		t.Error("a deadline is left")
	}
}

func TestMemory(t *testing.T) {
	m := newMemory()
	m.add(key(1), 2)
	if !m.has(key(1), 2) || m.has(key(1), 3) || m.has(key(2), 1) {
		t.Error("runs are mixed up")
	}
	for i := range memorySize + 10 {
		m.add(key(i), 1)
	}
	if len(m.runs) > memorySize {
		t.Errorf("%d jobs are remembered", len(m.runs))
	}
	m.add(key(5), 1)
	if m.remove(key(5)); m.has(key(5), 1) {
		t.Error("what was removed is remembered")
	}
}
