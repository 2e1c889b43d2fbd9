package gadget_test

import "math/bits"

// truth is a bit as the slow reference sees it: constant or variable, perhaps negated; value is the
// value after negation.
type truth struct{ value, variable, negated bool }

// bitwise evaluates SHA-256 one bit at a time, with the rules of the reference circuit: which
// operations on constants make no variable, and in which order the others are made.
type bitwise struct {
	skip int // variables before the gadget's own
	made []bool
}

func (r *bitwise) new(v bool) truth {
	r.made = append(r.made, v)
	return truth{value: v, variable: true}
}

func (x truth) not() truth {
	x.value = !x.value
	x.negated = x.variable && !x.negated
	return x
}

func (x truth) is(v bool) bool { return !x.variable && x.value == v }

func (r *bitwise) xor(x, y truth) truth {
	switch {
	case x.is(false):
		return y
	case y.is(false):
		return x
	case x.is(true):
		return y.not()
	case y.is(true):
		return x.not()
	}
	z := r.new(x.value != x.negated != (y.value != y.negated))
	if x.negated != y.negated {
		return z.not()
	}
	return z
}

func (r *bitwise) and(x, y truth) truth {
	switch {
	case x.is(false) || y.is(false):
		return truth{}
	case x.is(true):
		return y
	case y.is(true):
		return x
	}
	return r.new(x.value && y.value)
}

func (r *bitwise) choose(x, y, z truth) truth {
	switch {
	case !x.variable && !y.variable && !z.variable:
		return truth{value: x.value && y.value || !x.value && z.value}
	case x.is(false):
		return z
	case y.is(false):
		return r.and(x.not(), z)
	case z.is(false):
		return r.and(x, y)
	case z.is(true):
		return r.and(x, y.not()).not()
	case y.is(true):
		return r.and(x.not(), z.not()).not()
	}
	return r.new(x.value && y.value || !x.value && z.value)
}

func (r *bitwise) majority(x, y, z truth) truth {
	v := x.value && y.value || x.value && z.value || y.value && z.value
	switch {
	case !x.variable && !y.variable && !z.variable:
		return truth{value: v}
	case x.is(false):
		return r.and(y, z)
	case y.is(false):
		return r.and(x, z)
	case z.is(false):
		return r.and(x, y)
	case z.is(true):
		return r.and(x.not(), y.not()).not()
	case y.is(true):
		return r.and(x.not(), z.not()).not()
	case x.is(true):
		return r.and(y.not(), z.not()).not()
	}
	m := r.new(v)
	r.and(y, z)
	return m
}

// word32 is least significant bit first.
type word32 [32]truth

func constantWord32(v uint32) word32 {
	var w word32
	for i := range w {
		w[i].value = v>>i&1 == 1
	}
	return w
}

func (w word32) rotate(by int) word32 {
	var out word32
	for i := range out {
		out[i] = w[(i+by)%32]
	}
	return out
}

func (w word32) shift(by int) word32 {
	var out word32
	copy(out[:], w[by:])
	return out
}

func (r *bitwise) each3(f func(x, y, z truth) truth, x, y, z word32) word32 {
	var out word32
	for i := range out {
		out[i] = f(x[i], y[i], z[i])
	}
	return out
}

func (r *bitwise) xor3(x, y, z word32) word32 {
	first := r.each3(func(x, y, _ truth) truth { return r.xor(x, y) }, x, y, z)
	return r.each3(func(x, _, z truth) truth { return r.xor(x, z) }, first, y, z)
}

func (r *bitwise) sum(words ...word32) word32 {
	var sum uint64
	variable := false
	for _, w := range words {
		for i, b := range w {
			if b.value {
				sum += 1 << i
			}
			variable = variable || b.variable
		}
	}
	var out word32
	most := uint64(len(words)) * (1<<32 - 1)
	for i := range bits.Len64(most) {
		b := truth{value: sum>>i&1 == 1}
		if variable {
			b = r.new(b.value)
		}
		if i < 32 {
			out[i] = b
		}
	}
	return out
}

func (r *bitwise) compress(state [8]word32, block []word32) [8]word32 {
	w := append([]word32(nil), block...)
	for i := 16; i < 64; i++ {
		s0 := r.xor3(w[i-15].rotate(7), w[i-15].rotate(18), w[i-15].shift(3))
		s1 := r.xor3(w[i-2].rotate(17), w[i-2].rotate(19), w[i-2].shift(10))
		w = append(w, r.sum(w[i-16], s0, w[i-7], s1))
	}
	a, b, c, d := state[0], state[1], state[2], state[3]
	e, f, g, h := state[4], state[5], state[6], state[7]
	var pendingA, pendingE []word32
	for i := range 64 {
		if i > 0 {
			e = r.sum(pendingE...)
		}
		s1 := r.xor3(e.rotate(6), e.rotate(11), e.rotate(25))
		choice := r.each3(r.choose, e, f, g)
		if i > 0 {
			a = r.sum(pendingA...)
		}
		s0 := r.xor3(a.rotate(2), a.rotate(13), a.rotate(22))
		majority := r.each3(r.majority, a, b, c)
		t := []word32{h, s1, choice, constantWord32(roundConstant(i)), w[i]}
		pendingE = append(append([]word32(nil), t...), d)
		pendingA = append(append([]word32(nil), t...), s0, majority)
		h, g, f = g, f, e
		d, c, b = c, b, a
	}
	return [8]word32{
		r.sum(append(pendingA, state[0])...), r.sum(state[1], b), r.sum(state[2], c), r.sum(state[3], d),
		r.sum(append(pendingE, state[4])...), r.sum(state[5], f), r.sum(state[6], g), r.sum(state[7], h),
	}
}

func (r *bitwise) sha256(p pattern) [8]word32 {
	var words []word32
	for _, w := range p {
		b := constantWord32(w.Value)
		for i := range b {
			b[i].variable = w.Vars>>i&1 == 1
			b[i].negated = w.Negated>>i&1 == 1
		}
		words = append(words, b)
	}
	words = append(words, constantWord32(1<<31))
	for len(words)%16 != 14 {
		words = append(words, word32{})
	}
	words = append(words, word32{}, constantWord32(uint32(len(p)*32)))
	var state [8]word32
	for i := range state {
		state[i] = constantWord32(uint32(fractionOfRoot(prime(i), 2)))
	}
	for ; len(words) > 0; words = words[16:] {
		state = r.compress(state, words[:16])
	}
	return state
}
