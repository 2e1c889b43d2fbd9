package groth16

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// fixedBase multiplies one point by many scalars. A scalar is cut into signed windows, and a table
// holds every multiple that a window can ask for at its place: a product is one addition a window
// and no doubling. It is immutable once made.
type fixedBase[F any, P field[F]] struct {
	window int          // bits
	table  [][]point[F] // table[j][d-1] = d * 2^(j*window) * base
}

// maxWindow bounds the table: at 16 bits it has 2^19 points, 50 MB for G1.
const maxWindow = 16

// windowBits is the window that needs the fewest additions for n products, the table's included.
func windowBits(n int) int {
	best, least := 2, int(^uint(0)>>1)
	for c := 2; c <= maxWindow; c++ {
		if cost := windowsOf(c) * (n + 1<<(c-1)); cost < least {
			best, least = c, cost
		}
	}
	return best
}

// windowsOf is how many windows of c bits hold a scalar and the carry of the signed digits.
func windowsOf(c int) int { return fr.Bits/c + 1 }

// newFixedBase makes the table for products of base with about n scalars, on up to workers
// goroutines.
func newFixedBase[F any, P field[F]](base point[F], n, workers int) *fixedBase[F, P] {
	c := windowBits(n)
	f := &fixedBase[F, P]{window: c, table: make([][]point[F], windowsOf(c))}
	for j := range f.table {
		f.table[j] = make([]point[F], 1<<(c-1))
		f.table[j][0] = base
		for range c {
			double[F, P](&base)
		}
	}
	each(len(f.table), workers, func() func(int) {
		a := newAdder[F, P]()
		idx := make([]int32, 1<<(c-1))
		return func(j int) { fillMultiples(a, f.table[j], idx) }
	})
	return f
}

// fillMultiples makes t[d] = (d+1) * t[0], doubling how many are known with each step.
func fillMultiples[F any, P field[F]](a *adder[F, P], t []point[F], idx []int32) {
	for n := 1; n < len(t); n *= 2 {
		next := t[n:min(2*n, len(t))]
		for i := range next {
			next[i] = t[n-1]
			idx[i] = int32(i) + 1
		}
		a.add(next, t[:n], idx[:len(next)])
	}
}

// multiplier computes products of a fixed base. It is used by one goroutine.
type multiplier[F any, P field[F]] struct {
	base *fixedBase[F, P]
	add  *adder[F, P]
	idx  [][]int32 // per window, per scalar
}

func (f *fixedBase[F, P]) multiplier() *multiplier[F, P] {
	m := &multiplier[F, P]{base: f, add: newAdder[F, P](), idx: make([][]int32, len(f.table))}
	for j := range m.idx {
		m.idx[j] = make([]int32, batchPoints)
	}
	return m
}

// mul sets dst[i] to scalars[i] times the base.
func (m *multiplier[F, P]) mul(dst []point[F], scalars []fr.Element) {
	for len(dst) > 0 {
		n := min(len(dst), batchPoints)
		clear(dst[:n])
		for i := range n {
			m.digits(i, &scalars[i])
		}
		for j, t := range m.base.table {
			m.add.add(dst[:n], t, m.idx[j][:n])
		}
		dst, scalars = dst[n:], scalars[n:]
	}
}

// digits writes the signed digits of s, from -2^(c-1)+1 to 2^(c-1), into column i.
func (m *multiplier[F, P]) digits(i int, s *fr.Element) {
	c := uint(m.base.window)
	var words [fr.Limbs + 1]uint64 // with room for the last window to read beyond
	for k, w := range s.Bits() {
		words[k] = w
	}
	carry, half, mask := int32(0), int32(1)<<(c-1), uint64(1)<<c-1
	for j := range m.idx {
		at := uint(j) * c
		word, shift := at/64, at%64
		v := words[word] >> shift
		if shift+c > 64 {
			v |= words[word+1] << (64 - shift)
		}
		d := int32(v&mask) + carry //nolint:gosec // 16 bits
		carry = 0
		if d > half {
			d -= 2 * half
			carry = 1
		}
		m.idx[j][i] = d
	}
}
