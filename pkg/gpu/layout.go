package gpu

import (
	"slices"

	"github.com/proofmill/proofmill/pkg/r1cs"
	"github.com/proofmill/proofmill/pkg/witness"
)

// plainRun is how many variables of a run of bits or elements one warp expands.
const plainRun = 1 << 10

// auxFlag says in a list of variables that one is auxiliary.
const auxFlag = 1 << 31

// runsOf lists what makes the variables of a block's instances: bits and elements, and hashes sorted by kind. hashes numbers the kinds.
func runsOf(b *r1cs.Block, hashes *[]hashID) (plain, hashed []cRun) {
	var variable, bit, element uint32
	for _, seg := range b.Segments {
		nbits, elements := seg.StreamSize()
		run := cRun{operation: uint32(seg.Op), variable: variable, bit: bit, element: element}
		switch seg.Op {
		case r1cs.OpBits, r1cs.OpElements:
			for left := seg.Count; left > 0; left -= run.count {
				run.count = min(left, plainRun)
				plain = append(plain, run)
				run.variable += run.count
				if seg.Op == r1cs.OpBits {
					run.bit += run.count
				} else {
					run.element += run.count
				}
			}
		default:
			id := hashID{seg.Arity, seg.Tag}
			k := slices.Index(*hashes, id)
			if k < 0 {
				k = len(*hashes)
				*hashes = append(*hashes, id)
			}
			run.hash = uint32(k) //nolint:gosec // counts and sizes are far below the limit
			hashed = append(hashed, run)
		}
		variable += seg.Count
		bit += uint32(nbits)        //nolint:gosec // counts and sizes are far below the limit
		element += uint32(elements) //nolint:gosec // counts and sizes are far below the limit
	}
	slices.SortStableFunc(hashed, func(a, b cRun) int { return int(a.hash) - int(b.hash) })
	return plain, hashed
}

// dense is how many auxiliary variables at most are neither zero nor one: those that are not bits.
func dense(sys *r1cs.System) int {
	n := 0
	for i := range sys.Blocks {
		for _, seg := range sys.Blocks[i].Segments {
			if seg.Op != r1cs.OpBits {
				n += sys.Blocks[i].Repeat * int(seg.Count)
			}
		}
	}
	return n
}

// longRows lists the rows with more than limit terms.
func longRows(m *r1cs.Matrix, limit uint32) (out []uint32) {
	from := uint32(0)
	for r, end := range m.End {
		if end-from > limit {
			out = append(out, uint32(r))
		}
		from = end
	}
	return out
}

// columnsOf writes a block's columns and their tables as the library reads them.
func columnsOf(b *r1cs.Block) (columns, tables []uint32) {
	for i := range b.Columns {
		c := &b.Columns[i]
		at := ^uint32(0)
		if c.Table != nil {
			at = uint32(len(tables)) //nolint:gosec // counts and sizes are far below the limit
			tables = append(tables, c.Table...)
		}
		columns = append(columns, c.Start, c.Stride, at)
	}
	return columns, tables
}

// points says which variable each point of a section belongs to.
type points struct {
	count int
	each  func(yield func(variable uint32))
}

// pointsOf are the inputs that have a point, then the auxiliary variables that do.
func pointsOf(inputs []int, aux r1cs.Bitset, numAux int) points {
	return points{count: len(inputs) + aux.Count(), each: func(yield func(uint32)) {
		for _, i := range inputs {
			yield(uint32(i)) //nolint:gosec // counts and sizes are far below the limit
		}
		for i := range numAux {
			if aux.Has(i) {
				yield(uint32(i) | auxFlag)
			}
		}
	}}
}

// inputsWith are the inputs with a point in A (all) and in B.
func inputsWith(sys *r1cs.System, b r1cs.Bitset) (forA, forB []int) {
	for i := range sys.NumInputs {
		forA = append(forA, i)
		if b.Has(i) {
			forB = append(forB, i)
		}
	}
	return forA, forB
}

// placeRuns fills in where the instances of a block lie.
func placeRuns(b *r1cs.Block, l *witness.BlockLayout) cRuns {
	return cRuns{
		repeat: uint32(b.Repeat), auxStart: uint32(b.AuxStart), auxStride: uint32(b.AuxStride), //nolint:gosec // counts and sizes are far below the limit
		wordStart: uint64(l.WordStart), words: uint64(l.Words), //nolint:gosec // counts and sizes are far below the limit
		elementStart: uint64(l.ElementStart), elements: uint64(l.Elements), //nolint:gosec // counts and sizes are far below the limit
	}
}

// placeMatrix fills in the same for a block's matrices.
func placeMatrix(b *r1cs.Block) cMatrix {
	return cMatrix{
		rows: uint32(b.Rows), repeat: uint32(b.Repeat), rowStart: uint32(b.RowStart), //nolint:gosec // counts and sizes are far below the limit
		auxStart: uint32(b.AuxStart), auxStride: uint32(b.AuxStride), //nolint:gosec // counts and sizes are far below the limit
		inputStart: uint32(b.InputStart), inputStride: uint32(b.InputStride), //nolint:gosec // counts and sizes are far below the limit
	}
}
