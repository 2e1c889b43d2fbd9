package gadget

import (
	"math/bits"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// UInt32 is a 32-bit word in a circuit, least significant bit first. Constant bits and negated bits
// have no variable of their own, and operations on them make none.
type UInt32 [32]Boolean

// ConstantUInt32 is the constant word v.
func ConstantUInt32(v uint32) UInt32 {
	var u UInt32
	for i := range u {
		u[i] = Constant(v>>i&1 == 1)
	}
	return u
}

// UInt32FromBitsBE is the word of 32 bits, most significant first.
func UInt32FromBitsBE(b []Boolean) UInt32 {
	var u UInt32
	for i := range u {
		u[i] = b[31-i]
	}
	return u
}

// AppendBitsBE appends the bits of u, most significant first.
func (u *UInt32) AppendBitsBE(dst []Boolean) []Boolean {
	for i := 31; i >= 0; i-- {
		dst = append(dst, u[i])
	}
	return dst
}

func (u *UInt32) rotateRight(by int) UInt32 {
	var r UInt32
	for i := range r {
		r[i] = u[(i+by)%32]
	}
	return r
}

func (u *UInt32) shiftRight(by int) UInt32 {
	var r UInt32
	copy(r[:], u[by:])
	return r
}

func xorUInt32(cs *r1cs.CS, x, y *UInt32) UInt32 {
	var r UInt32
	for i := range r {
		r[i] = Xor(cs, x[i], y[i])
	}
	return r
}

// Word is what the assignment knows of a [UInt32]: its value, which of its bits have a variable
// (the others are constant), and which of these are the negation of their variable. Vars and
// Negated follow from the circuit alone.
type Word struct {
	Value   uint32
	Vars    uint32
	Negated uint32 // a subset of Vars
}

const allBits = ^uint32(0)

// VariableWord is a word all of whose bits are variables.
func VariableWord(v uint32) Word { return Word{Value: v, Vars: allBits} }

// ConstantWord is the word of [ConstantUInt32].
func ConstantWord(v uint32) Word { return Word{Value: v} }

func (w Word) rotateRight(by int) Word {
	return Word{bits.RotateLeft32(w.Value, -by), bits.RotateLeft32(w.Vars, -by), bits.RotateLeft32(w.Negated, -by)}
}

func (w Word) shiftRight(by uint) Word { return Word{w.Value >> by, w.Vars >> by, w.Negated >> by} }

func (w Word) not() Word { return Word{^w.Value, w.Vars, w.Vars &^ w.Negated} }

// ones and zeros are the bits that are constant true and constant false.
func (w Word) ones() uint32  { return w.Value &^ w.Vars }
func (w Word) zeros() uint32 { return ^(w.Value | w.Vars) }

// assignMasked appends those bits of v that mask has.
func assignMasked(a *r1cs.Assigner, v, mask uint32) {
	if mask == allBits {
		a.Word32(v)
		return
	}
	for mask != 0 {
		from := bits.TrailingZeros32(mask)
		n := bits.TrailingZeros32(^(mask >> from))
		run := uint32(1)<<n - 1 // n is below 32
		a.Bits(uint64(v>>from&run), uint(n))
		mask &^= run << from
	}
}

// assignXor is the assignment of xorUInt32: a bit where both operands have a variable.
func assignXor(a *r1cs.Assigner, x, y Word) Word {
	r := Word{Value: x.Value ^ y.Value, Vars: x.Vars | y.Vars}
	r.Negated = (x.Negated ^ y.Negated ^ x.ones() ^ y.ones()) & r.Vars
	assignMasked(a, r.Value^r.Negated, x.Vars&y.Vars)
	return r
}
