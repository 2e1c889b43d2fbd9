package gadget

import "github.com/proofmill/proofmill/pkg/r1cs"

// choose makes (x and y) xor (not x and z). Where y or z is a constant it is one "and"; otherwise a
// new bit with x * (y - z) = bit - z.
func (k *shaCS) choose(x, y, z Boolean) Boolean {
	yValue, yConstant := y.IsConstant()
	zValue, zConstant := z.IsConstant()
	switch xValue, xConstant := x.IsConstant(); {
	case xConstant && !xValue:
		return z
	case yConstant && !yValue:
		return And(k.cs, x.Not(), z)
	case zConstant && !zValue:
		return And(k.cs, x, y)
	case zConstant:
		return And(k.cs, x, y.Not()).Not()
	case yConstant:
		return And(k.cs, x.Not(), z.Not()).Not()
	}
	bit := k.cs.AllocBit()
	k.a = z.AddTo(y.AddTo(k.a[:0], &one), &minusOne)
	k.b = x.AddTo(k.b[:0], &one)
	k.c = z.AddTo(k.c[:0].Add(bit), &minusOne)
	k.cs.Enforce(k.a, k.b, k.c)
	return Is(Bit{bit})
}

// majority makes what at least two of x, y, z are. Where one is a constant it is one "and";
// otherwise two new bits: the result, and "y and z" with (2yz - y - z) * x = yz - result.
func (k *shaCS) majority(x, y, z Boolean) Boolean {
	yValue, yConstant := y.IsConstant()
	zValue, zConstant := z.IsConstant()
	xValue, xConstant := x.IsConstant()
	switch {
	case xConstant && !xValue:
		return And(k.cs, y, z)
	case yConstant && !yValue:
		return And(k.cs, x, z)
	case zConstant && !zValue:
		return And(k.cs, x, y)
	case zConstant:
		return And(k.cs, x.Not(), y.Not()).Not()
	case yConstant:
		return And(k.cs, x.Not(), z.Not()).Not()
	case xConstant:
		return And(k.cs, y.Not(), z.Not()).Not()
	}
	bit := k.cs.AllocBit()
	yz := And(k.cs, y, z)
	k.a = yz.AddTo(k.a[:0], &powersOfTwo[1])
	k.a = z.AddTo(y.AddTo(k.a, &minusOne), &minusOne)
	k.b = x.AddTo(k.b[:0], &one)
	k.c = yz.AddTo(k.c[:0], &one).Sub(bit)
	k.cs.Enforce(k.a, k.b, k.c)
	return Is(Bit{bit})
}

func (k *shaCS) chooseWord(x, y, z *UInt32) UInt32 {
	var r UInt32
	for i := range r {
		r[i] = k.choose(x[i], y[i], z[i])
	}
	return r
}

func (k *shaCS) majorityWord(x, y, z *UInt32) UInt32 {
	var r UInt32
	for i := range r {
		r[i] = k.majority(x[i], y[i], z[i])
	}
	return r
}

// assignChoose is the assignment of chooseWord.
func assignChoose(a *r1cs.Assigner, x, y, z Word) Word {
	v := x.Value&y.Value | ^x.Value&z.Value
	if x.Vars&y.Vars&z.Vars == allBits {
		a.Word32(v)
		return VariableWord(v)
	}
	var c cases
	c.view(x.zeros(), z)
	c.and(y.zeros(), x.not(), z, false)
	c.and(z.zeros(), x, y, false)
	c.and(z.ones(), x, y.not(), true)
	c.and(y.ones(), x.not(), z.not(), true)
	c.fresh(v)
	assignMasked(a, c.bits, c.made)
	return c.word
}

// assignMajority is the assignment of majorityWord.
func assignMajority(a *r1cs.Assigner, x, y, z Word) Word {
	yz := y.Value & z.Value
	v := x.Value&(y.Value|z.Value) | yz
	if x.Vars&y.Vars&z.Vars == allBits {
		a.Bits(interleave(v, yz), 64)
		return VariableWord(v)
	}
	var c cases
	c.and(x.zeros(), y, z, false)
	c.and(y.zeros(), x, z, false)
	c.and(z.zeros(), x, y, false)
	c.and(z.ones(), x.not(), y.not(), true)
	c.and(y.ones(), x.not(), z.not(), true)
	c.and(x.ones(), y.not(), z.not(), true)
	two := ^c.done // where two bits are made
	c.fresh(v)
	if two == 0 {
		assignMasked(a, c.bits, c.made)
		return c.word
	}
	for i := range 32 { // words whose bits are partly constant, which no circuit of Filecoin has here
		if c.made>>i&1 == 1 {
			a.Bits(uint64(c.bits>>i&1), 1)
		}
		if two>>i&1 == 1 {
			a.Bits(uint64(yz>>i&1), 1)
		}
	}
	return c.word
}

// cases computes a word whose bits are made by different rules, as their operands are constant or
// not: each rule covers the bits it is given that no earlier rule covered.
type cases struct {
	word Word
	done uint32 // bits covered
	made uint32 // bits with a new variable
	bits uint32 // the values of these variables
}

func (c *cases) cover(where *uint32) {
	*where &^= c.done
	c.done |= *where
}

// view is the rule that the result is x.
func (c *cases) view(where uint32, x Word) {
	c.cover(&where)
	c.word.Value |= x.Value & where
	c.word.Vars |= x.Vars & where
	c.word.Negated |= x.Negated & where
}

// and is the rule that the result is x and y, or its negation: as [And] makes it, a bit where both
// have a variable, otherwise a constant or the one that has.
func (c *cases) and(where uint32, x, y Word, negated bool) {
	c.cover(&where)
	r := Word{Value: x.Value & y.Value}
	made, onlyX, onlyY := x.Vars&y.Vars, x.Vars&y.ones(), y.Vars&x.ones()
	r.Vars = made | onlyX | onlyY
	r.Negated = onlyX&x.Negated | onlyY&y.Negated
	c.made |= made & where
	c.bits |= r.Value & made & where
	if negated {
		r = r.not()
	}
	c.word.Value |= r.Value & where
	c.word.Vars |= r.Vars & where
	c.word.Negated |= r.Negated & where
}

// fresh is the rule for all bits left: a new variable with the value of v's bit.
func (c *cases) fresh(v uint32) {
	where := ^c.done
	c.done = allBits
	c.made |= where
	c.bits |= v & where
	c.word.Value |= v & where
	c.word.Vars |= where
}

// interleave puts the bits of even and odd in turn, lowest of even first.
func interleave(even, odd uint32) uint64 { return spread(even) | spread(odd)<<1 }

// spread moves bit i to bit 2i.
func spread(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	x = (x | x<<2) & 0x3333333333333333
	return (x | x<<1) & 0x5555555555555555
}
