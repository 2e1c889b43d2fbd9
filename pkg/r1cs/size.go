package r1cs

import "slices"

// Size is how much a block has: constraints, and terms of each matrix.
type Size struct{ Constraints, A, B, C int }

// Size is how much the block has so far.
func (cs *CS) Size() Size {
	b := &cs.block
	return Size{len(b.A.End), len(b.A.Vars), len(b.B.Vars), len(b.C.Vars)}
}

// Less is the difference s - other.
func (s Size) Less(other Size) Size {
	return Size{s.Constraints - other.Constraints, s.A - other.A, s.B - other.B, s.C - other.C}
}

// Plus is the sum s + other.
func (s Size) Plus(other Size) Size {
	return Size{s.Constraints + other.Constraints, s.A + other.A, s.B + other.B, s.C + other.C}
}

// Times is n times s.
func (s Size) Times(n int) Size { return Size{n * s.Constraints, n * s.A, n * s.B, n * s.C} }

// Reserve makes room for more constraints and terms at once. It is for blocks so large that growing
// bit by bit would copy and keep much: from the size of a part that was built, that of the rest is
// known.
func (cs *CS) Reserve(more Size) {
	for _, m := range [...]struct {
		*Matrix
		terms int
	}{{&cs.block.A, more.A}, {&cs.block.B, more.B}, {&cs.block.C, more.C}} {
		m.End = slices.Grow(m.End, more.Constraints)
		m.Vars = slices.Grow(m.Vars, m.terms)
		m.Coeff = slices.Grow(m.Coeff, m.terms)
	}
}
