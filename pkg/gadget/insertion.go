package gadget

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// Pick makes a where condition holds, otherwise b: (b - a) * condition = b - result. Its assignment
// is one [r1cs.Assigner.Element].
func Pick(cs *r1cs.CS, condition Boolean, a, b Num) Num {
	c := AllocNum(cs)
	cs.Enforce(b.LC().Sub(a.Var), condition.LC(), b.LC().Sub(c.Var))
	return c
}

// Select makes the element of from, 2^len(index) numbers, whose number has the given bits, least
// significant first. Its assignment is [AssignSelect].
func Select(cs *r1cs.CS, from []Num, index []Bit) Num {
	state := append([]Num(nil), from...)
	for _, bit := range slices.Backward(index) {
		half := len(state) / 2
		for j := range half {
			state[j] = Pick(cs, Is(bit), state[half+j], state[j])
		}
		state = state[:half]
	}
	return state[0]
}

// AssignSelect writes the assignment of [Select] and returns the selected element. from is
// overwritten.
func AssignSelect(a *r1cs.Assigner, from []fr.Element, index uint64) fr.Element {
	for half := len(from) / 2; half > 0; half /= 2 {
		if index&uint64(half) != 0 {
			copy(from[:half], from[half:2*half])
		}
		copy(a.NextElements(half), from[:half])
	}
	return from[0]
}

// insertion is a program of picks that inserts an element among its siblings at the position that
// a few bits spell. Its values are numbered: first the inserted element, then the siblings, then
// the results of the picks. Its conditions are numbered: the bits, then, in the program of size 8,
// "neither of the two low bits" and "both of the two low bits".
type insertion struct {
	size  int
	bits  int
	both  bool // has the two extra conditions
	picks []pick
	out   []int // which value stands at each position
}

// pick is the value yes where the condition holds, otherwise no.
type pick struct{ condition, yes, no int }

// insertionFor returns the program for size 2, 4 or 8. Those of 4 and 8 save picks over the general
// one, as the reference does.
func insertionFor(size int) *insertion {
	i := bits.TrailingZeros(uint(size))
	if size < 2 || size != 1<<i || i > len(insertions) {
		panic(fmt.Sprintf("insertion among %d elements", size))
	}
	return insertions[i-1]()
}

var insertions = [...]func() *insertion{
	sync.OnceValue(func() *insertion { return generalInsertion(2) }),
	sync.OnceValue(insertion4),
	sync.OnceValue(insertion8),
}

func newInsertion(size int) *insertion {
	return &insertion{size: size, bits: bits.TrailingZeros(uint(size))}
}

// pick appends a pick and returns the number of its result.
func (p *insertion) pick(condition, yes, no int) int {
	p.picks = append(p.picks, pick{condition, yes, no})
	return p.size + len(p.picks) - 1
}

// generalInsertion selects, for each position, among what stands there for each index.
func generalInsertion(size int) *insertion {
	p := newInsertion(size)
	for position := range size {
		choices := make([]int, size)
		for index := range choices {
			switch {
			case index == position:
				choices[index] = 0
			case index < position:
				choices[index] = position // the siblings before the inserted one moved up
			default:
				choices[index] = position + 1
			}
		}
		for bit := p.bits - 1; bit >= 0; bit-- {
			half := len(choices) / 2
			for j := range half {
				choices[j] = p.pick(bit, choices[half+j], choices[j])
			}
			choices = choices[:half]
		}
		p.out = append(p.out, choices[0])
	}
	return p
}

// insertion4 inserts A among b, c, d:
//
//	index  0 1 2 3 (positions)
//	    0  A b c d
//	    1  b A c d
//	    2  b c A d
//	    3  b c d A
func insertion4() *insertion {
	p := newInsertion(4)
	const (
		a, b, c, d = 0, 1, 2, 3
		b0, b1     = 0, 1
	)
	p.out = []int{
		p.pick(b1, b, p.pick(b0, b, a)),
		p.pick(b1, c, p.pick(b0, a, b)),
		p.pick(b1, p.pick(b0, d, a), c),
		p.pick(b1, p.pick(b0, a, d), d),
	}
	return p
}

// insertion8 inserts A among b to h; position k has the sibling before k for indices above k, the
// one after for indices below.
func insertion8() *insertion {
	p := newInsertion(8)
	p.both = true
	const (
		a, b, c, d, e, f, g, h = 0, 1, 2, 3, 4, 5, 6, 7
		b0, b1, b2, nor, and   = 0, 1, 2, 3, 4
	)
	p.out = []int{
		p.pick(b2, b, p.pick(nor, a, b)),
		p.pick(b2, c, p.pick(b1, c, p.pick(b0, a, b))),
		p.pick(b2, d, p.pick(b1, p.pick(b0, d, a), c)),
		p.pick(b2, e, p.pick(and, a, d)),
		p.pick(b2, p.pick(nor, a, f), e),
		p.pick(b2, p.pick(b1, g, p.pick(b0, a, f)), f),
		p.pick(b2, p.pick(b1, p.pick(b0, h, a), g), g),
		p.pick(b2, p.pick(and, a, h), h),
	}
	return p
}

// numVariables is how many variables the program makes.
func (p *insertion) numVariables() int {
	if p.both {
		return len(p.picks) + 2
	}
	return len(p.picks)
}

// insert makes the list of elements with element inserted at the position that index spells, least
// significant bit first. There are 2^len(index) - 1 elements, up to MaxArity-1.
func insert(cs *r1cs.CS, element Num, index []Bit, elements []Num) []Num {
	p := insertionFor(len(elements) + 1)
	conditions := AreBits(index)
	if p.both {
		low, high := index[0], index[1] //nolint:gosec // that program has three bits
		conditions = append(conditions, Is(NorBit(cs, low, high)), Is(AndBit(cs, low, high)))
	}
	values := append(append(make([]Num, 0, p.size+len(p.picks)), element), elements...)
	for _, k := range p.picks {
		values = append(values, Pick(cs, conditions[k.condition], values[k.yes], values[k.no]))
	}
	out := make([]Num, p.size)
	for i, v := range p.out {
		out[i] = values[v]
	}
	return out
}

// expand computes the program's variables into dst and the list with the element inserted into
// inserted. elements are the inserted element and its siblings.
func (p *insertion) expand(dst []fr.Element, index uint64, elements, inserted []fr.Element) {
	condition := func(c int) bool {
		switch {
		case c < p.bits:
			return index>>uint(c)&1 == 1
		case c == p.bits:
			return index&3 == 0
		default:
			return index&3 == 3
		}
	}
	if p.both {
		setBool(&dst[0], condition(p.bits))
		setBool(&dst[1], condition(p.bits+1))
		dst = dst[2:]
	}
	value := func(v int) *fr.Element {
		if v < p.size {
			return &elements[v]
		}
		return &dst[v-p.size]
	}
	for i, k := range p.picks {
		if condition(k.condition) {
			dst[i] = *value(k.yes)
		} else {
			dst[i] = *value(k.no)
		}
	}
	for i, v := range p.out {
		inserted[i] = *value(v)
	}
}

func setBool(e *fr.Element, v bool) {
	if v {
		e.SetOne()
	} else {
		e.SetZero()
	}
}
