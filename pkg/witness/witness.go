package witness

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// BlockLayout is where the instances of one block lie in the streams.
type BlockLayout struct {
	Bits         int // of one instance
	Words        int // of one instance: Bits in whole words
	Elements     int // of one instance
	WordStart    int // of instance 0; instance i starts i*Words later
	ElementStart int
}

// Layout is where each block of a system lies in the streams of its witnesses.
type Layout struct {
	Blocks   []BlockLayout
	Words    int
	Elements int
}

// NewLayout computes the layout of sys's witnesses.
func NewLayout(sys *r1cs.System) *Layout {
	l := &Layout{Blocks: make([]BlockLayout, len(sys.Blocks))}
	for i := range sys.Blocks {
		b := &l.Blocks[i]
		b.WordStart, b.ElementStart = l.Words, l.Elements
		for _, seg := range sys.Blocks[i].Segments {
			nbits, elements := seg.StreamSize()
			b.Bits += nbits
			b.Elements += elements
		}
		b.Words = (b.Bits + 63) / 64
		l.Words += sys.Blocks[i].Repeat * b.Words
		l.Elements += sys.Blocks[i].Repeat * b.Elements
	}
	return l
}

// Witness is the compact assignment of a system.
type Witness struct {
	System   *r1cs.System
	Layout   *Layout
	Inputs   []fr.Element // all public inputs, the constant one first
	Words    []uint64     // packed bits
	Elements []fr.Element // in Montgomery form
}

// New makes an empty witness of sys: all streams zero, the constant one set.
func New(sys *r1cs.System) *Witness {
	l := NewLayout(sys)
	w := &Witness{
		System: sys, Layout: l,
		Inputs:   make([]fr.Element, sys.NumInputs),
		Words:    make([]uint64, l.Words),
		Elements: make([]fr.Element, l.Elements),
	}
	w.Inputs[0].SetOne()
	return w
}

// Assign writes instance i of a block by calling assign, and checks that it wrote as much as the
// instance has. Different instances may be assigned at once.
func (w *Witness) Assign(block, i int, assign func(a *r1cs.Assigner)) error {
	b, l := &w.System.Blocks[block], &w.Layout.Blocks[block]
	words, elements := w.streams(block, i)
	inputs := w.Inputs[b.InputStart+i*b.InputStride:][:b.InputStride]
	a := r1cs.NewAssigner(words, l.Bits, elements, inputs)
	assign(&a)
	if err := a.Close(); err != nil {
		return fmt.Errorf("block %s, instance %d: %w", b.Name, i, err)
	}
	return nil
}

func (w *Witness) streams(block, i int) ([]uint64, []fr.Element) {
	l := &w.Layout.Blocks[block]
	return w.Words[l.WordStart+i*l.Words:][:l.Words], w.Elements[l.ElementStart+i*l.Elements:][:l.Elements]
}
