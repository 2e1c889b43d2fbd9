package gadget

import (
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

var one, minusOne = fr.One(), minusPowersOfTwo[0]

// minusPowersOfTwo are -2^0 to -2^254.
var minusPowersOfTwo = func() (p [fr.Bits]fr.Element) {
	for i := range p {
		p[i].Neg(&powersOfTwo[i])
	}
	return p
}()

// multiEq joins equations between small numbers into few constraints: each is shifted above those
// before it, while together they stay below [Capacity] bits.
type multiEq struct {
	cs          *r1cs.CS
	used        int // bits
	left, right r1cs.LC
}

// sumBits is how many bits the sum of n words takes.
func sumBits(n int) int { return bits.Len64(uint64(n) * (1<<32 - 1)) } //nolint:gosec // small

// add makes the sum of words modulo 2^32; the carry bits are made too. The sum of constants is a
// constant.
func (m *multiEq) add(words ...*UInt32) UInt32 {
	var constant uint64
	varying := false
	for _, w := range words {
		for i := range w {
			if v, isConstant := w[i].IsConstant(); !isConstant {
				varying = true
			} else if v {
				constant += 1 << i
			}
		}
	}
	if !varying {
		return ConstantUInt32(uint32(constant))
	}
	n := sumBits(len(words))
	var sum UInt32
	first := AllocBit(m.cs).Var
	sum[0] = Is(Bit{first})
	for i := 1; i < n; i++ {
		b := AllocBit(m.cs)
		if i < len(sum) {
			sum[i] = Is(b)
		}
	}
	if m.used+n >= Capacity {
		m.flush()
	}
	for _, w := range words {
		constant += m.addVariables(w)
	}
	var c fr.Element
	c.SetUint64(constant)
	if c.Mul(&c, &powersOfTwo[m.used]); !c.IsZero() {
		m.left = m.left.AddConstant(c)
	}
	for i := range n {
		m.right = m.right.AddScaled(powersOfTwo[m.used+i], first+r1cs.Var(i))
	}
	m.used += n
	return sum
}

// addVariables adds the variables of w to the left side and returns the constant that its negated
// bits have in addition.
func (m *multiEq) addVariables(w *UInt32) (constant uint64) {
	for i := range w {
		bit, negated, ok := w[i].Bit()
		switch {
		case !ok:
		case negated:
			constant += 1 << i
			m.left = m.left.AddScaled(minusPowersOfTwo[m.used+i], bit.Var)
		default:
			m.left = m.left.AddScaled(powersOfTwo[m.used+i], bit.Var)
		}
	}
	return constant
}

// flush makes the constraint of the equations gathered so far.
func (m *multiEq) flush() {
	if m.used > 0 {
		m.cs.Enforce(m.left, oneLC, m.right)
	}
	m.used, m.left, m.right = 0, m.left[:0], m.right[:0]
}

// assignSum is the assignment of multiEq.add.
func assignSum(a *r1cs.Assigner, words ...Word) Word {
	var sum uint64
	var vars uint32
	for _, w := range words {
		sum += uint64(w.Value)
		vars |= w.Vars
	}
	if vars == 0 {
		return ConstantWord(uint32(sum))
	}
	a.Bits(sum, uint(sumBits(len(words))))
	return VariableWord(uint32(sum))
}
