package r1cs

import (
	"fmt"
	"slices"
)

// Builder makes a [System] block by block, in the order of the constraints. It is used by one
// goroutine. Circuits are fixed programs: what they can get wrong (too many coefficients, a
// variable of another block) panics.
type Builder struct {
	sys    System
	coeffs coeffTable
	rows   int
}

// NewBuilder starts a system with the constant one as its only input.
func NewBuilder() *Builder {
	b := &Builder{sys: System{NumInputs: 1}}
	b.coeffs.init()
	return b
}

// Block adds a block of repeat instances, whose constraints build makes once. In a block that does
// not repeat, variables are absolute at once and may be used in later blocks as they are. Those of
// a repeated block are reached by [BlockRef.At].
func (b *Builder) Block(name string, repeat int, build func(cs *CS)) BlockRef {
	if repeat < 1 {
		panic(fmt.Sprintf("block %s: repeats %d times", name, repeat))
	}
	cs := &CS{b: b, block: Block{
		Name: name, Repeat: repeat,
		RowStart: b.rows, AuxStart: b.sys.NumAux, InputStart: b.sys.NumInputs,
	}}
	if repeat == 1 {
		cs.auxBase, cs.inputBase = auxFlag|shared|Var(b.sys.NumAux), shared|Var(b.sys.NumInputs) //nolint:gosec // below 2^29
	} else {
		cs.auxBase, cs.inputBase = auxFlag|own, own
	}
	build(cs)
	blk := &cs.block
	blk.Rows = len(blk.A.End)
	blk.AuxStride, blk.InputStride = cs.numAux, cs.numInputs
	for _, m := range []*Matrix{&blk.A, &blk.B, &blk.C} {
		m.End, m.Vars, m.Coeff = slices.Clip(m.End), slices.Clip(m.Vars), slices.Clip(m.Coeff)
	}
	b.rows += repeat * blk.Rows
	b.sys.NumAux += repeat * cs.numAux
	b.sys.NumInputs += repeat * cs.numInputs
	if b.sys.NumAux > maxIndex || b.sys.NumInputs > maxIndex {
		panic("constraint system has more than 2^29 variables")
	}
	ref := BlockRef{auxStart: blk.AuxStart, auxStride: cs.numAux, inputStart: blk.InputStart, inputStride: cs.numInputs, repeat: repeat}
	b.sys.Blocks = append(b.sys.Blocks, *blk)
	return ref
}

// System ends the building and returns what was built. The builder must not be used afterwards.
func (b *Builder) System() *System {
	b.sys.Coeffs = b.coeffs.values
	b.sys.NumConstraints = b.rows + b.sys.NumInputs
	return &b.sys
}

// BlockRef reaches the variables of a block from later ones.
type BlockRef struct {
	auxStart, auxStride, inputStart, inputStride, repeat int
}

// At is own variable v of the block's instance i as a shared variable.
func (r BlockRef) At(i int, v Var) Var {
	if i < 0 || i >= r.repeat {
		panic(fmt.Sprintf("instance %d of a block of %d", i, r.repeat))
	}
	switch {
	case !v.IsOwn():
		return v
	case v.IsAux():
		return auxFlag | shared | Var(r.auxStart+i*r.auxStride+v.Index()) //nolint:gosec // below 2^29
	default:
		return shared | Var(r.inputStart+i*r.inputStride+v.Index()) //nolint:gosec // below 2^29
	}
}

// CS is the block that is being built, as gadgets see it.
type CS struct {
	b                  *Builder
	block              Block
	numAux, numInputs  int
	auxBase, inputBase Var
	expanding          bool
	scratch            LC
	order              []uint64
}

// Repeat is how many instances the block has.
func (cs *CS) Repeat() int { return cs.block.Repeat }

// NumConstraints is how many constraints the block has so far.
func (cs *CS) NumConstraints() int { return len(cs.block.A.End) }

// NumAux is how many auxiliary variables the block has so far.
func (cs *CS) NumAux() int { return cs.numAux }

// AllocBit makes an auxiliary variable whose value is 0 or 1. It does not constrain it.
func (cs *CS) AllocBit() Var { return cs.alloc(OpBits) }

// AllocElement makes an auxiliary variable of any value.
func (cs *CS) AllocElement() Var { return cs.alloc(OpElements) }

// AllocInput makes a public input.
func (cs *CS) AllocInput() Var {
	v := cs.inputBase + Var(cs.numInputs) //nolint:gosec // below 2^29
	cs.numInputs++
	return v
}

func (cs *CS) alloc(op Op) Var {
	v := cs.auxBase + Var(cs.numAux) //nolint:gosec // below 2^29
	cs.numAux++
	if cs.expanding {
		return v
	}
	if n := len(cs.block.Segments); n > 0 && cs.block.Segments[n-1].Op == op {
		cs.block.Segments[n-1].Count++
	} else {
		cs.block.Segments = append(cs.block.Segments, Segment{Op: op, Count: 1})
	}
	return v
}

// Expanded makes the variables that build allocates one segment of the given operation, whatever
// they are allocated as: the witness holds only what the operation needs to recompute them.
func (cs *CS) Expanded(op Op, arity int, tag uint8, build func()) {
	if cs.expanding {
		panic("expanded segments do not nest")
	}
	before := cs.numAux
	cs.expanding = true
	build()
	cs.expanding = false
	cs.block.Segments = append(cs.block.Segments, Segment{
		Op: op, Arity: uint8(arity), Tag: tag, Count: uint32(cs.numAux - before), //nolint:gosec // small
	})
}

// Moving is a variable that is at[i] in instance i. The variables at must be shared, all in one
// space, and made in earlier blocks; there is one for each instance.
func (cs *CS) Moving(at []Var) Var {
	if len(at) != cs.block.Repeat {
		panic(fmt.Sprintf("block %s: %d variables for %d instances", cs.block.Name, len(at), cs.block.Repeat))
	}
	if cs.block.Repeat == 1 {
		return at[0]
	}
	same, even := true, true
	for i, v := range at {
		if !v.IsShared() || v.IsAux() != at[0].IsAux() {
			panic(fmt.Sprintf("block %s: moving variable at %v", cs.block.Name, v))
		}
		same = same && v == at[0]
		even = even && v-at[0] == Var(i)*(at[1]-at[0])
	}
	if same {
		return at[0]
	}
	col := Column{Start: uint32(at[0].Index()), Stride: uint32(at[1] - at[0])} //nolint:gosec // below 2^29
	if !even || at[1] < at[0] {
		col = Column{Table: make([]uint32, len(at))}
		for i, v := range at {
			col.Table[i] = uint32(v.Index()) //nolint:gosec // below 2^29
		}
	}
	cs.block.Columns = append(cs.block.Columns, col)
	return at[0]&auxFlag | moving | Var(len(cs.block.Columns)-1) //nolint:gosec // few
}

// Enforce adds the constraint a * b = c. The combinations are only read.
func (cs *CS) Enforce(a, b, c LC) {
	cs.row(&cs.block.A, a)
	cs.row(&cs.block.B, b)
	cs.row(&cs.block.C, c)
}
