package r1cs

import (
	"fmt"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// Assigner writes the compact assignment of one instance of a block: its inputs, and for its
// auxiliary variables the bits and elements that the block's segments are produced from, each
// stream in the order of the segments. Gadgets write whole words; nothing is checked while writing,
// Close says whether the amounts were right.
//
// An Assigner is used by one goroutine; those of different instances may be used at once.
type Assigner struct {
	words    []uint64
	word     int    // next word to write
	acc      uint64 // bits not yet written, from the lowest
	fill     uint
	elements []fr.Element
	element  int
	inputs   []fr.Element
	input    int
	bits     int // how many bits the instance has
}

// NewAssigner writes to words (of which the instance has nbits bits, least significant first),
// elements and inputs, which the caller owns.
func NewAssigner(words []uint64, nbits int, elements, inputs []fr.Element) Assigner {
	return Assigner{words: words, bits: nbits, elements: elements, inputs: inputs}
}

// Bits appends the n lowest bits of v, lowest first. The other bits of v must be zero; n <= 64.
func (a *Assigner) Bits(v uint64, n uint) {
	a.acc |= v << a.fill
	a.fill += n
	if a.fill < 64 {
		return
	}
	if a.word < len(a.words) {
		a.words[a.word] = a.acc
	}
	a.word++
	a.fill -= 64
	a.acc = v >> (n - a.fill) // a shift of 64 gives 0
}

// Bit appends one bit.
func (a *Assigner) Bit(v bool) {
	var b uint64
	if v {
		b = 1
	}
	a.Bits(b, 1)
}

// Word32 appends the 32 bits of v, lowest first.
func (a *Assigner) Word32(v uint32) { a.Bits(uint64(v), 32) }

// ElementBits appends the n lowest bits of the canonical value of x, lowest first.
func (a *Assigner) ElementBits(x *fr.Element, n uint) {
	for _, w := range x.Bits() {
		if n == 0 {
			return
		}
		k := min(n, 64)
		if k < 64 {
			w &= 1<<k - 1
		}
		a.Bits(w, k)
		n -= k
	}
}

// Element appends an element.
func (a *Assigner) Element(x *fr.Element) {
	if a.element < len(a.elements) {
		a.elements[a.element] = *x
	}
	a.element++
}

// NextElements hands out the next n elements to be written in place.
func (a *Assigner) NextElements(n int) []fr.Element {
	from := a.element
	a.element += n
	if a.element > len(a.elements) {
		return make([]fr.Element, n) // Close reports it
	}
	return a.elements[from:a.element:a.element]
}

// Input appends a public input.
func (a *Assigner) Input(x *fr.Element) {
	if a.input < len(a.inputs) {
		a.inputs[a.input] = *x
	}
	a.input++
}

// Close writes the last bits and says whether exactly as much was written as the instance has.
func (a *Assigner) Close() error {
	written := a.word*64 + int(a.fill)
	if a.fill > 0 && a.word < len(a.words) {
		a.words[a.word] = a.acc
	}
	if written != a.bits || a.element != len(a.elements) || a.input != len(a.inputs) {
		return fmt.Errorf("instance was given %d bits, %d elements, %d inputs, has %d, %d, %d",
			written, a.element, a.input, a.bits, len(a.elements), len(a.inputs))
	}
	return nil
}

// StreamSize is how many bits and elements of the witness a segment is produced from.
func (s Segment) StreamSize() (nbits, elements int) {
	switch s.Op {
	case OpBits:
		return int(s.Count), 0
	case OpElements:
		return 0, int(s.Count)
	case OpHash:
		return 0, int(s.Arity)
	case OpMerkleStep, OpMerkleStepGivenIndex:
		return bits.TrailingZeros8(s.Arity), int(s.Arity)
	default:
		panic("unknown " + s.Op.String())
	}
}
