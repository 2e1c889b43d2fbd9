package groth16

import (
	"context"
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"pgregory.net/rapid"
)

// TestMSM compares with products one by one, for points that may be equal, opposite or infinite.
func TestMSM(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "n")
		points, scalars := make([]bls12381.G1Affine, n), make([]fr.Element, n)
		points2 := make([]bls12381.G2Affine, n)
		var e fr.Element
		for i := range points {
			e.SetInt64(rapid.Int64Range(-3, 3).Draw(t, "multiple"))
			points[i], points2[i] = mulG1(&e), mulG2(&e)
			scalars[i] = drawScalar(t, "scalar")
		}
		workers := rapid.IntRange(1, 40).Draw(t, "workers")
		got, err := msm[fp.Element](context.Background(), asPointsG1(points), scalars, workers)
		if err != nil {
			t.Fatal(err)
		}
		want := sumOfProducts(points, scalars)
		if p := bls12381.G1Affine(got); !p.Equal(&want) {
			t.Fatal("sum in G1 is wrong")
		}
		got2, err := msm[bls12381.E2](context.Background(), asPointsG2(points2), scalars, workers)
		if err != nil {
			t.Fatal(err)
		}
		var want2 bls12381.G2Affine
		if _, err := want2.MultiExp(points2, scalars, ecc.MultiExpConfig{}); err != nil {
			t.Fatal(err)
		}
		if p := bls12381.G2Affine(got2); !p.Equal(&want2) {
			t.Fatal("sum in G2 is wrong")
		}
	})
}

// TestMSMOfManyPoints needs all windows and several chunks; scalars are random, few values, or bits.
func TestMSMOfManyPoints(t *testing.T) {
	for _, n := range []int{100, 1000, msmChunk, msmChunk + 1, 3*msmChunk + 17} {
		points := multiples(n)
		for name, scalars := range map[string][]fr.Element{
			"random": randomScalars(n), "few values": make([]fr.Element, n), "bits": make([]fr.Element, n),
		} {
			for i := range scalars {
				switch name {
				case "few values":
					scalars[i].SetInt64(int64(i%5) - 2)
				case "bits":
					scalars[i].SetUint64(uint64(i) * 0x9e3779b97f4a7c15 >> 63)
				}
			}
			got, err := msm[fp.Element](t.Context(), asPointsG1(points), scalars, 3)
			if err != nil {
				t.Fatal(err)
			}
			var want, k, w fr.Element // the points are the generator times 1 to n
			for i := range scalars {
				k.SetUint64(uint64(i) + 1)
				want.Add(&want, w.Mul(&k, &scalars[i]))
			}
			if p, q := bls12381.G1Affine(got), mulG1(&want); !p.Equal(&q) {
				t.Errorf("sum of %d points with %s scalars is wrong", n, name)
			}
		}
	}
}

func TestMSMEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := msm[fp.Element](ctx, asPointsG1(multiples(10)), randomScalars(10), 0); err == nil {
		t.Error("cancelled sum was returned")
	}
}

// BenchmarkMSM compares ours with the library's, on all cores.
func BenchmarkMSM(b *testing.B) {
	for _, log := range []int{14, 17} {
		n := 1 << log
		points, scalars := multiples(n), randomScalars(n)
		b.Run(fmt.Sprintf("G1/2^%d/ours", log), func(b *testing.B) {
			cpu := cpuTime(b)
			for b.Loop() {
				if _, err := msm[fp.Element](b.Context(), asPointsG1(points), scalars, 0); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpuTime(b)-cpu).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
		b.Run(fmt.Sprintf("G1/2^%d/library", log), func(b *testing.B) {
			cpu := cpuTime(b)
			for b.Loop() {
				var p bls12381.G1Jac
				if _, err := p.MultiExp(points, scalars, ecc.MultiExpConfig{NbTasks: processors(0)}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpuTime(b)-cpu).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
	const n = 1 << 16
	points, scalars := multiplesG2(n), randomScalars(n)
	b.Run("G2/2^16/ours", func(b *testing.B) {
		cpu := cpuTime(b)
		for b.Loop() {
			if _, err := msm[bls12381.E2](b.Context(), asPointsG2(points), scalars, 0); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64((cpuTime(b)-cpu).Milliseconds())/float64(b.N), "cpu-ms/op")
	})
	b.Run("G2/2^16/library", func(b *testing.B) {
		cpu := cpuTime(b)
		for b.Loop() {
			var p bls12381.G2Jac
			if _, err := p.MultiExp(points, scalars, ecc.MultiExpConfig{NbTasks: processors(0)}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64((cpuTime(b)-cpu).Milliseconds())/float64(b.N), "cpu-ms/op")
	})
}
