package r1cs

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestRowsOfAnyLength holds the rows that a block gets against the canonical form of the terms.
func TestRowsOfAnyLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lc := make(LC, rapid.IntRange(0, 4*longRow).Draw(t, "terms"))
		most := rapid.SampledFrom([]uint32{3, 60, 1 << 20}).Draw(t, "variables")
		for i := range lc {
			lc[i] = Term{drawCoeff(t), Var(rapid.Uint32Range(0, most).Draw(t, "var"))}
		}
		given := slices.Clone(lc)
		var got LC
		b := NewBuilder()
		b.Block("row", 1, func(cs *CS) {
			cs.Reserve(cs.Size().Times(3))
			cs.Enforce(lc, nil, nil)
			if n := cs.Size(); n.Constraints != 1 || n.A != len(cs.block.A.Vars) || n.B != 0 || n.C != 0 {
				t.Fatalf("size %v", n)
			}
			for i, v := range cs.block.A.Vars {
				got = append(got, Term{b.coeffs.values[cs.block.A.Coeff[i]], v})
			}
		})
		if !slices.Equal(lc, given) {
			t.Fatal("the combination was changed")
		}
		if want := lc.canonical(); !slices.Equal(got, want) {
			t.Fatalf("row %v, want %v", got, want)
		}
	})
}
