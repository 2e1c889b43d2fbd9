package gpu

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// transformed are values on the device, and the domain they are in.
type transformed struct {
	d      *Device
	domain *domain
	memory *buffer
	s      *stream
	values []fr.Element // the first ones; the rest repeats them
}

// newTransformed fills a domain's worth of memory with random values, which repeat beyond 2^20.
func newTransformed(t testing.TB, d *Device, logN, arrays int) *transformed {
	t.Helper()
	v := &transformed{d: d}
	var err error
	if v.domain, err = d.takeDomain(logN); err != nil {
		t.Fatal(err)
	}
	n := v.domain.size()
	if v.memory, err = d.alloc("values", fr.Bytes*n*int64(arrays)); err != nil {
		t.Fatal(err)
	}
	if v.s, err = d.newStream(); err != nil {
		t.Fatal(err)
	}
	g := rand.New(rand.NewPCG(uint64(logN), 6))
	v.values = make([]fr.Element, min(n, 1<<20))
	for i := range v.values {
		v.values[i] = randomElement(g)
	}
	for at := int64(0); at < n*int64(arrays); at += int64(len(v.values)) {
		if err := copyIn(v.s, v.memory.at(fr.Bytes*at), v.values); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.s.wait(); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *transformed) free() {
	v.s.free()
	v.memory.free()
	v.d.releaseDomain(v.domain)
}

// run transforms the first array.
func (v *transformed) run(t testing.TB, reversed int32) {
	t.Helper()
	err := v.d.call("transform", func(e *callError) int32 {
		return v.d.lib.fn.transform(v.domain.handle, v.s.handle, v.domain.tables.addr, reversed, v.memory.addr, e)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTwoTransformsReverse transforms forth and back: with the same root twice, value j becomes n times value -j.
func TestTwoTransformsReverse(t *testing.T) {
	d := testDevice(t)
	sizes := []int{0, 1, 2, 5, 11, 12, 13, 14, 15, 16, 17}
	if d.Info().Compute[0] > 0 { // not the host
		sizes = append(sizes, 18, 19, 20, 22, 24, 26)
		if d.Ledger().Free() > 60<<30 {
			sizes = append(sizes, 27, 28)
		}
	}
	for _, logN := range sizes {
		t.Run(fmt.Sprint(logN), func(t *testing.T) {
			v := newTransformed(t, d, logN, 1)
			defer v.free()
			v.run(t, 1)
			v.run(t, 0)
			n := v.domain.size()
			var scale fr.Element
			scale.SetUint64(uint64(n))
			// All of a small one, some stretches of a large one.
			stretch := min(n, 1<<14)
			for at := int64(0); at < n; at += max(n/16, stretch) {
				got := make([]fr.Element, stretch)
				if err := copyOut(v.s, got, v.memory.at(fr.Bytes*at)); err != nil {
					t.Fatal(err)
				}
				if err := v.s.wait(); err != nil {
					t.Fatal(err)
				}
				for i := range got {
					var want fr.Element
					from := (n - at - int64(i)) % n
					want.Mul(&scale, &v.values[from%int64(len(v.values))])
					if got[i] != want {
						t.Fatalf("value %d is %v, want %v", at+int64(i), got[i], want)
					}
				}
			}
		})
	}
}

// benchmark repeats work on the values' stream and reports how long the device took for it. It waits for each run: queued up, more would
// be given to the device than a benchmark's time is for.
func (v *transformed) benchmark(b *testing.B, run func()) {
	b.Helper()
	deviceTime := func() (sum time.Duration) {
		stages, err := v.s.stages()
		if err != nil {
			b.Fatal(err)
		}
		for _, s := range stages {
			sum += s.Duration
		}
		return sum
	}
	run()
	deviceTime()
	var total time.Duration
	runs := 0
	for b.Loop() {
		run()
		total += deviceTime()
		runs++
	}
	b.ReportMetric(total.Seconds()*1000/float64(runs), "ms(device)")
}

func BenchmarkTransform(b *testing.B) {
	d := testDevice(b)
	for _, logN := range []int{17, 20, 24, 26, 27} {
		for reversed, name := range []string{"from", "to"} {
			b.Run(fmt.Sprintf("%s/%d", name, logN), func(b *testing.B) {
				v := newTransformed(b, d, logN, 1)
				defer v.free()
				v.benchmark(b, func() { v.run(b, int32(reversed)) })
			})
		}
	}
}

func BenchmarkQuotient(b *testing.B) {
	d := testDevice(b)
	for _, logN := range []int{17, 20, 24, 26, 27} {
		b.Run(fmt.Sprint(logN), func(b *testing.B) {
			v := newTransformed(b, d, logN, 3)
			defer v.free()
			step := fr.Bytes * v.domain.size()
			v.benchmark(b, func() {
				err := d.call("transforms", func(e *callError) int32 {
					return d.lib.fn.quotient(v.domain.handle, v.s.handle, v.domain.tables.addr, v.memory.at(0), v.memory.at(step), v.memory.at(2*step), e)
				})
				if err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}
