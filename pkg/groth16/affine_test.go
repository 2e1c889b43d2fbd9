package groth16

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"pgregory.net/rapid"
)

// drawScalar draws small, special and random scalars.
func drawScalar(t *rapid.T, name string) fr.Element {
	var e fr.Element
	switch rapid.IntRange(0, 5).Draw(t, name+" kind") {
	case 0:
		e.SetUint64(rapid.Uint64Range(0, 2).Draw(t, name))
	case 1: // next to the modulus
		e.SetUint64(rapid.Uint64Range(0, 3).Draw(t, name))
		e.Neg(&e)
	case 2: // around a power of two, where windows carry
		e.SetUint64(1)
		for range rapid.IntRange(0, 254).Draw(t, name+" log") {
			e.Double(&e)
		}
		e.Sub(&e, new(fr.Element).SetUint64(rapid.Uint64Range(0, 2).Draw(t, name)))
	default:
		e.SetBytes(rapid.SliceOfN(rapid.Byte(), fr.Bytes, fr.Bytes).Draw(t, name))
	}
	return e
}

func mulG1(s *fr.Element) (p bls12381.G1Affine) {
	p.ScalarMultiplicationBase(s.BigInt(new(big.Int)))
	return p
}

func mulG2(s *fr.Element) (p bls12381.G2Affine) {
	p.ScalarMultiplicationBase(s.BigInt(new(big.Int)))
	return p
}

// TestAdder adds points that may be equal, opposite or at infinity.
func TestAdder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 20).Draw(t, "n")
		small := rapid.Custom(func(t *rapid.T) fr.Element {
			var e fr.Element
			e.SetInt64(rapid.Int64Range(-2, 2).Draw(t, "multiple"))
			return e
		})
		base := make([]fr.Element, 5)
		basePoints := make([]bls12381.G1Affine, len(base))
		basePoints2 := make([]bls12381.G2Affine, len(base))
		for i := range base {
			base[i] = small.Draw(t, "base")
			basePoints[i], basePoints2[i] = mulG1(&base[i]), mulG2(&base[i])
		}
		want := make([]fr.Element, n)
		dst := make([]bls12381.G1Affine, n)
		dst2 := make([]bls12381.G2Affine, n)
		idx := make([]int32, n)
		for i := range n {
			want[i] = small.Draw(t, "dst")
			dst[i], dst2[i] = mulG1(&want[i]), mulG2(&want[i])
			idx[i] = rapid.Int32Range(-5, 5).Draw(t, "idx")
			switch k := idx[i]; {
			case k > 0:
				want[i].Add(&want[i], &base[k-1])
			case k < 0:
				want[i].Sub(&want[i], &base[-k-1])
			}
		}
		idx2 := append([]int32(nil), idx...)
		newAdder[fp.Element]().add(asPointsG1(dst), asPointsG1(basePoints), idx)
		newAdder[bls12381.E2]().add(asPointsG2(dst2), asPointsG2(basePoints2), idx2)
		for i := range n {
			if p := mulG1(&want[i]); !p.Equal(&dst[i]) {
				t.Fatalf("sum %d in G1 is wrong", i)
			}
			if p := mulG2(&want[i]); !p.Equal(&dst2[i]) {
				t.Fatalf("sum %d in G2 is wrong", i)
			}
		}
	})
}

func TestFixedBase(t *testing.T) {
	_, _, g1, g2 := bls12381.Generators()
	for _, count := range []int{1, 30, 1000, 20000, 200000} {
		f1 := newFixedBase[fp.Element](pointG1(g1), count, 0)
		var f2 *fixedBase[bls12381.E2, *bls12381.E2]
		if count <= 1000 {
			f2 = newFixedBase[bls12381.E2](pointG2(g2), count, 0)
		}
		t.Run(fmt.Sprintf("window %d", f1.window), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				n := rapid.IntRange(0, 20).Draw(t, "n")
				scalars := make([]fr.Element, n)
				for i := range scalars {
					scalars[i] = drawScalar(t, "scalar")
				}
				got := make([]bls12381.G1Affine, n)
				f1.multiplier().mul(asPointsG1(got), scalars)
				for i := range got {
					if want := mulG1(&scalars[i]); !want.Equal(&got[i]) {
						t.Fatalf("product with %s in G1 is wrong", scalars[i].String())
					}
				}
				if f2 == nil {
					return
				}
				got2 := make([]bls12381.G2Affine, n)
				f2.multiplier().mul(asPointsG2(got2), scalars)
				for i := range got2 {
					if want := mulG2(&scalars[i]); !want.Equal(&got2[i]) {
						t.Fatalf("product with %s in G2 is wrong", scalars[i].String())
					}
				}
			})
		})
	}
}

func TestSummer(t *testing.T) {
	const n = 3000
	points := multiples(n)
	rapid.Check(t, func(t *rapid.T) {
		s := newSummer[fp.Element](asPointsG1(points))
		picks := rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 3*batchPoints).Draw(t, "picks")
		var want uint64
		for _, i := range picks {
			s.pick(i)
			want += uint64(i) + 1
		}
		got := bls12381.G1Affine(s.sum())
		var e fr.Element
		if p := mulG1(e.SetUint64(want)); !p.Equal(&got) {
			t.Fatalf("sum of %d points is wrong", len(picks))
		}
	})
}

// multiples is the generator times 1 to n.
func multiples(n int) []bls12381.G1Affine {
	_, _, g1, _ := bls12381.Generators()
	out := make([]bls12381.G1Affine, n)
	out[0] = g1
	fillMultiples(newAdder[fp.Element](), asPointsG1(out), make([]int32, n))
	return out
}

func multiplesG2(n int) []bls12381.G2Affine {
	_, _, _, g2 := bls12381.Generators()
	out := make([]bls12381.G2Affine, n)
	out[0] = g2
	fillMultiples(newAdder[bls12381.E2](), asPointsG2(out), make([]int32, n))
	return out
}

func randomScalars(n int) []fr.Element {
	out := make([]fr.Element, n)
	for i := range out {
		out[i].MustSetRandom()
	}
	return out
}

// BenchmarkFixedBase is one product on one core.
func BenchmarkFixedBase(b *testing.B) {
	_, _, g1, g2 := bls12381.Generators()
	const n = 1 << 13
	scalars := randomScalars(n)
	b.Run("G1", func(b *testing.B) {
		m := newFixedBase[fp.Element](pointG1(g1), 1<<23, 0).multiplier()
		dst := make([]pointG1, n)
		for b.Loop() {
			m.mul(dst, scalars)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/product")
	})
	b.Run("G2", func(b *testing.B) {
		m := newFixedBase[bls12381.E2](pointG2(g2), 1<<18, 0).multiplier()
		dst := make([]pointG2, n)
		for b.Loop() {
			m.mul(dst, scalars)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/product")
	})
}

// BenchmarkBitSum adds up a point for each bit that is one, on one core: by batched affine
// additions, and by a general multi-scalar multiplication.
func BenchmarkBitSum(b *testing.B) {
	const n = 1 << 16
	points, scalars := multiples(n), make([]fr.Element, n)
	for i := range scalars {
		scalars[i].SetUint64(uint64(i) * 0x9e3779b97f4a7c15 >> 63)
	}
	b.Run("additions", func(b *testing.B) {
		for b.Loop() {
			s := newSummer[fp.Element](asPointsG1(points))
			for i := range scalars {
				if scalars[i].IsOne() {
					s.pick(i)
				}
			}
			s.sum()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/bit")
	})
	b.Run("msm", func(b *testing.B) {
		for b.Loop() {
			var p bls12381.G1Jac
			if _, err := p.MultiExp(points, scalars, ecc.MultiExpConfig{NbTasks: 1}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/bit")
	})
}
