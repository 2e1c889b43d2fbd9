package circuit

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// holdsAround says whether all constraints that name an auxiliary variable are satisfied. It only
// evaluates those, in the most direct way, so that a test may change many variables of a big circuit
// one after the other.
func holdsAround(sys *r1cs.System, inputs, aux []fr.Element, variable int) bool {
	for k := range sys.Blocks {
		b := &sys.Blocks[k]
		for r := range b.Rows {
			for _, i := range instancesNaming(b, r, variable) {
				x := rowValue(sys, b, &b.A, inputs, aux, i, r)
				y := rowValue(sys, b, &b.B, inputs, aux, i, r)
				z := rowValue(sys, b, &b.C, inputs, aux, i, r)
				if x.Mul(&x, &y); x != z {
					return false
				}
			}
		}
	}
	return true
}

// instancesNaming lists the instances of a block in which row r names the auxiliary variable.
func instancesNaming(b *r1cs.Block, r, variable int) []int {
	var instances []int
	for _, m := range []*r1cs.Matrix{&b.A, &b.B, &b.C} {
		from, to := m.Row(r)
		for _, v := range m.Vars[from:to] {
			if !v.IsAux() {
				continue
			}
			if v.IsOwn() { // only one instance can name it
				if i, at := (variable-b.AuxStart)/b.AuxStride, (variable-b.AuxStart)%b.AuxStride; variable >= b.AuxStart && i < b.Repeat && at == v.Index() {
					instances = append(instances, i)
				}
				continue
			}
			if v.IsShared() && v.Index() != variable {
				continue
			}
			for i := range b.Repeat {
				if b.Position(v, i) == variable {
					instances = append(instances, i)
				}
			}
		}
	}
	return instances
}

func rowValue(sys *r1cs.System, b *r1cs.Block, m *r1cs.Matrix, inputs, aux []fr.Element, i, r int) fr.Element {
	var sum, t fr.Element
	from, to := m.Row(r)
	for k := from; k < to; k++ {
		values := inputs
		if m.Vars[k].IsAux() {
			values = aux
		}
		t.Mul(&values[b.Position(m.Vars[k], i)], &sys.Coeffs[m.Coeff[k]])
		sum.Add(&sum, &t)
	}
	return sum
}
