package gadget

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// Bit is a variable that is constrained to be 0 or 1.
type Bit struct{ Var r1cs.Var }

// AllocBit makes a bit: (1 - bit) * bit = 0. Its assignment is one bit of the stream.
func AllocBit(cs *r1cs.CS) Bit {
	v := cs.AllocBit()
	cs.Enforce(oneMinus(v), r1cs.LCOf(v), nil)
	return Bit{v}
}

// AllocBits makes n bits, each as [AllocBit] does.
func AllocBits(cs *r1cs.CS, n int) []Bit {
	out := make([]Bit, n)
	for i := range out {
		out[i] = AllocBit(cs)
	}
	return out
}

// XorBit makes a xor b: 2a * b = a + b - result. Its assignment is one bit.
func XorBit(cs *r1cs.CS, a, b Bit) Bit {
	v := cs.AllocBit()
	cs.Enforce(r1cs.LC{{Coeff: powersOfTwo[1], Var: a.Var}}, r1cs.LCOf(b.Var),
		r1cs.LC{{Coeff: one, Var: a.Var}, {Coeff: one, Var: b.Var}, {Coeff: minusOne, Var: v}})
	return Bit{v}
}

// AndBit makes a and b: a * b = result. Its assignment is one bit.
func AndBit(cs *r1cs.CS, a, b Bit) Bit {
	v := cs.AllocBit()
	cs.Enforce(r1cs.LCOf(a.Var), r1cs.LCOf(b.Var), r1cs.LCOf(v))
	return Bit{v}
}

// AndNotBit makes a and not b: a * (1 - b) = result. Its assignment is one bit.
func AndNotBit(cs *r1cs.CS, a, b Bit) Bit {
	v := cs.AllocBit()
	cs.Enforce(r1cs.LCOf(a.Var), oneMinus(b.Var), r1cs.LCOf(v))
	return Bit{v}
}

// NorBit makes not a and not b: (1 - a) * (1 - b) = result. Its assignment is one bit.
func NorBit(cs *r1cs.CS, a, b Bit) Bit {
	v := cs.AllocBit()
	cs.Enforce(oneMinus(a.Var), oneMinus(b.Var), r1cs.LCOf(v))
	return Bit{v}
}

// oneMinus is 1 - v. Circuits have millions of bits, so it is made without growing.
func oneMinus(v r1cs.Var) r1cs.LC {
	return r1cs.LC{{Coeff: one, Var: r1cs.One}, {Coeff: minusOne, Var: v}}
}

// Boolean is a truth value in a circuit: a constant, a bit, or a bit negated. The zero value is the
// constant false. Booleans are comparable.
type Boolean struct {
	bit  Bit
	view view
}

type view uint8

const (
	isFalse view = iota
	isTrue
	isBit
	isNotBit
)

// Constant is the constant truth value v.
func Constant(v bool) Boolean {
	if v {
		return Boolean{view: isTrue}
	}
	return Boolean{}
}

// Is is the truth value of a bit.
func Is(b Bit) Boolean { return Boolean{b, isBit} }

// AreBits is [Is] of each bit.
func AreBits(bits []Bit) []Boolean {
	out := make([]Boolean, len(bits))
	for i, b := range bits {
		out[i] = Is(b)
	}
	return out
}

// IsConstant says whether b has no variable, and which value it has then.
func (b Boolean) IsConstant() (value, constant bool) { return b.view == isTrue, b.view <= isTrue }

// Bit is the variable of b and whether b is its negation; ok is false for a constant.
func (b Boolean) Bit() (bit Bit, negated, ok bool) {
	return b.bit, b.view == isNotBit, b.view >= isBit
}

// Not is the negation of b; it costs nothing.
func (b Boolean) Not() Boolean {
	b.view ^= 1 // false and true, bit and negated bit are neighbours
	return b
}

// AddTo returns lc + coeff*b. Like append it may reuse lc's memory.
func (b Boolean) AddTo(lc r1cs.LC, coeff *fr.Element) r1cs.LC {
	switch b.view {
	case isTrue:
		lc = lc.AddConstant(*coeff)
	case isBit:
		lc = lc.AddScaled(*coeff, b.bit.Var)
	case isNotBit:
		var minus fr.Element
		lc = lc.AddConstant(*coeff).AddScaled(*minus.Neg(coeff), b.bit.Var)
	case isFalse:
	}
	return lc
}

// LC is b as a linear combination.
func (b Boolean) LC() r1cs.LC { return b.AddTo(nil, &powersOfTwo[0]) }

// Xor makes a xor b. It allocates a bit only where both have variables; [Xor] of a constant is the
// other operand or its negation.
func Xor(cs *r1cs.CS, a, b Boolean) Boolean {
	switch {
	case a.view == isFalse:
		return b
	case b.view == isFalse:
		return a
	case a.view == isTrue:
		return b.Not()
	case b.view == isTrue:
		return a.Not()
	case a.view == b.view:
		return Is(XorBit(cs, a.bit, b.bit))
	case a.view == isBit:
		return Is(XorBit(cs, a.bit, b.bit)).Not()
	default: // the operand that is not negated comes first
		return Is(XorBit(cs, b.bit, a.bit)).Not()
	}
}

// And makes a and b. It allocates a bit only where both have variables.
func And(cs *r1cs.CS, a, b Boolean) Boolean {
	switch {
	case a.view == isFalse || b.view == isFalse:
		return Boolean{}
	case a.view == isTrue:
		return b
	case b.view == isTrue:
		return a
	case a.view == isBit && b.view == isBit:
		return Is(AndBit(cs, a.bit, b.bit))
	case a.view == isBit:
		return Is(AndNotBit(cs, a.bit, b.bit))
	case b.view == isBit:
		return Is(AndNotBit(cs, b.bit, a.bit))
	default:
		return Is(NorBit(cs, a.bit, b.bit))
	}
}
