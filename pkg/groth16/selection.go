package groth16

import (
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// selection says which variable each point of a section belongs to: the section has a point for
// each variable of a set, inputs first.
type selection struct {
	inputs []int       // the inputs that have a point
	aux    r1cs.Bitset // the auxiliary variables that have one; nil if all do
	numAux int
	rank   []int // of each run of selectionWords words, how many points lie before it
	count  int   // points
}

// selectionWords is how many words of the set one task goes through.
const selectionWords = 1 << 8

// selectAux selects all auxiliary variables and no inputs.
func selectAux(n int) *selection { return newSelection(nil, nil, n) }

// newSelection selects the inputs given and the members of aux, all of the n if aux is nil.
func newSelection(inputs []int, aux r1cs.Bitset, n int) *selection {
	s := &selection{inputs: inputs, aux: aux, numAux: n, count: len(inputs)}
	words := (n + 63) / 64
	for from := 0; from < words; from += selectionWords {
		s.rank = append(s.rank, s.count)
		for i := from; i < min(words, from+selectionWords); i++ {
			s.count += bits.OnesCount64(s.word(i))
		}
	}
	return s
}

func (s *selection) word(i int) uint64 {
	if s.aux != nil {
		return s.aux[i]
	}
	if left := s.numAux - 64*i; left < 64 {
		return 1<<uint(left) - 1
	}
	return ^uint64(0)
}

// allInputs is 0 to n-1.
func allInputs(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// membersOf is the members of a set of n.
func membersOf(set r1cs.Bitset, n int) []int {
	var out []int
	for i := range n {
		if set.Has(i) {
			out = append(out, i)
		}
	}
	return out
}

// visitor sorts the points of a section by their scalars: those whose scalar is one only need to be
// added, zero needs nothing, and what is left needs a multiplication.
type visitor struct {
	one  func(point int)
	rest []pick
}

// pick is a point and its scalar.
type pick struct {
	point  int
	scalar *fr.Element
}

func (v *visitor) visit(point int, x *fr.Element) {
	switch {
	case x.IsZero():
	case x.IsOne():
		v.one(point)
	default:
		v.rest = append(v.rest, pick{point, x})
	}
}

// inputsTo visits the points of inputs.
func (s *selection) inputsTo(v *visitor, inputs []fr.Element) {
	for p, i := range s.inputs {
		v.visit(p, &inputs[i])
	}
}

// runs is how many runs the auxiliary variables have.
func (s *selection) runs() int { return len(s.rank) }

// runTo visits the points of run k.
func (s *selection) runTo(v *visitor, k int, aux []fr.Element) {
	p := s.rank[k]
	words := (s.numAux + 63) / 64
	for i := k * selectionWords; i < min(words, (k+1)*selectionWords); i++ {
		for w := s.word(i); w != 0; w &= w - 1 {
			v.visit(p, &aux[64*i+bits.TrailingZeros64(w)])
			p++
		}
	}
}
