package r1cs

import (
	"maps"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// Outside lists the auxiliary variables that constraints of other instances than their own refer to, by rising absolute
// index. They are few: commitments, and nodes that lead from one hash to the next.
func (s *System) Outside() []uint32 {
	found := map[uint32]struct{}{}
	for n := range s.Blocks {
		b := &s.Blocks[n]
		for _, m := range [...]*Matrix{&b.A, &b.B, &b.C} {
			for _, v := range m.Vars {
				switch {
				case !v.IsAux() || v.IsOwn():
				case v.IsShared():
					found[uint32(v.Index())] = struct{}{} //nolint:gosec // below 2^29
				default:
					for i := range b.Repeat {
						found[b.Columns[v.Index()].At(i)] = struct{}{}
					}
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// SatisfiedInstance checks the constraints of instance i of a block, given the values of the instance's own auxiliary
// variables and of those that [System.Outside] lists, by absolute index. It returns an *UnsatisfiedError for the first
// violated one. Different instances may be checked at once.
func (s *System) SatisfiedInstance(block, i int, inputs, own []fr.Element, outside map[uint32]fr.Element) error {
	b := &s.Blocks[block]
	var x, y, z fr.Element
	for r := range b.Rows {
		b.evaluateInstance(&x, &b.A, s.Coeffs, inputs, own, outside, i, r)
		b.evaluateInstance(&y, &b.B, s.Coeffs, inputs, own, outside, i, r)
		b.evaluateInstance(&z, &b.C, s.Coeffs, inputs, own, outside, i, r)
		if x.Mul(&x, &y); !x.Equal(&z) {
			return &UnsatisfiedError{Constraint: b.RowStart + i*b.Rows + r, Block: b.Name, Instance: i, Row: r}
		}
	}
	return nil
}

// evaluateInstance is evaluateRow where only the instance's own auxiliary values and the outside ones are at hand.
func (b *Block) evaluateInstance(dst *fr.Element, m *Matrix, coeffs, inputs, own []fr.Element, outside map[uint32]fr.Element, i, r int) {
	var sum, t, value fr.Element
	from, to := m.Row(r)
	for k := from; k < to; k++ {
		x := &value
		switch v := m.Vars[k]; {
		case !v.IsAux():
			x = &inputs[b.Position(v, i)]
		case v.IsOwn():
			x = &own[v.Index()]
		default:
			value = outside[uint32(b.Position(v, i))] //nolint:gosec // below 2^29
		}
		addTerm(&sum, &t, x, coeffs, m.Coeff[k])
	}
	*dst = sum
}
