package r1cs

import "slices"

// row appends a row in canonical form.
func (cs *CS) row(m *Matrix, lc LC) {
	if len(lc) > longRow {
		cs.longRow(m, lc)
	} else {
		cs.scratch = append(cs.scratch[:0], lc...)
		for i := range cs.scratch.canonical() {
			cs.term(m, &cs.scratch[i])
		}
	}
	m.End = append(m.End, uint32(len(m.Vars))) //nolint:gosec // rows of one instance
}

func (cs *CS) term(m *Matrix, t *Term) {
	m.Vars = append(m.Vars, t.Var)
	m.Coeff = append(m.Coeff, cs.b.coeffs.index(&t.Coeff))
}

// longRow is from how many terms on a row is brought into canonical form by sorting the variables
// alone, rather than the five times larger terms.
const longRow = 48

func (cs *CS) longRow(m *Matrix, lc LC) {
	order := cs.order[:0]
	for i := range lc {
		order = append(order, uint64(lc[i].Var)<<32|uint64(i))
	}
	cs.order = order
	slices.Sort(order)
	for len(order) > 0 {
		t := lc[uint32(order[0])] //nolint:gosec // the lower half
		n := 1
		for n < len(order) && order[n]>>32 == order[0]>>32 {
			t.Coeff.Add(&t.Coeff, &lc[uint32(order[n])].Coeff) //nolint:gosec // the lower half
			n++
		}
		if !t.Coeff.IsZero() {
			cs.term(m, &t)
		}
		order = order[n:]
	}
}
