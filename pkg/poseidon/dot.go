package poseidon

import (
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// maxTerms is how many products a [wide] surely holds and [wide.reduce] reduces.
const maxTerms = 16

// wide is an unreduced sum of up to maxTerms products of two reduced elements, little-endian. It
// stays below maxTerms * q^2 < 2^514.
type wide [9]uint64

// dot is the scalar product of two vectors of equal length, at most maxTerms. The products are
// summed before the one reduction that the result needs.
func dot(a, b []fr.Element) fr.Element {
	var t wide
	t.addProducts(a, b)
	return t.reduce()
}

// dotReference is dot with a reduction for each product.
func dotReference(a, b []fr.Element) fr.Element {
	var sum, t fr.Element
	for i := range a {
		t.Mul(&a[i], &b[i])
		sum.Add(&sum, &t)
	}
	return sum
}

// addProductsGeneric adds the products a[i]*b[i] to t.
func (t *wide) addProductsGeneric(a, b []fr.Element) {
	for i := range a {
		x, y := &a[i], &b[i]
		var p [8]uint64
		for j, xj := range x {
			var carry uint64
			for k, yk := range y {
				hi, lo := bits.Mul64(xj, yk)
				var c uint64
				lo, c = bits.Add64(lo, p[j+k], 0)
				hi += c
				lo, c = bits.Add64(lo, carry, 0)
				p[j+k], carry = lo, hi+c
			}
			p[j+4] = carry
		}
		var c uint64
		for j := range p {
			t[j], c = bits.Add64(t[j], p[j], c)
		}
		t[8] += c
	}
}

// modulus is q, and montgomery -1/q mod 2^64.
var (
	modulus    = [4]uint64{0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48}
	montgomery = uint64(0xfffffffeffffffff)
)

// multiples are 0, q, 2q ... 8q. The upper half of a wide is below maxTerms * q * (q/2^256) < 8q.
var multiples = func() (m [maxTerms/2 + 1][5]uint64) {
	for k := 1; k < len(m); k++ {
		var c uint64
		for i, q := range modulus {
			m[k][i], c = bits.Add64(m[k-1][i], q, c)
		}
		m[k][4] = m[k-1][4] + c
	}
	return m
}()

// quotient is floor(2^64 / (floor(q/2^196)+1)).
const quotient = 35

// reduce returns t / 2^256 mod q, the sum of the Montgomery products.
func (t *wide) reduce() fr.Element {
	// The upper half minus a multiple of q that is at most 1.1 q too small: its highest 63 of 67 bits
	// give the factor.
	k, _ := bits.Mul64(t[8]<<60|t[7]>>4, quotient)
	m := &multiples[k]
	h0, c := bits.Sub64(t[4], m[0], 0)
	h1, c := bits.Sub64(t[5], m[1], c)
	h2, c := bits.Sub64(t[6], m[2], c)
	h3, _ := bits.Sub64(t[7], m[3], c) // the fifth limb is now zero

	// Four steps of Montgomery reduction of the lower half leave it below q.
	l0, l1, l2, l3 := t[0], t[1], t[2], t[3]
	for range 4 {
		f := l0 * montgomery
		x0, y0 := bits.Mul64(f, modulus[0])
		x1, y1 := bits.Mul64(f, modulus[1])
		x2, y2 := bits.Mul64(f, modulus[2])
		x3, y3 := bits.Mul64(f, modulus[3])
		x0, c = bits.Add64(x0, y1, 0)
		x1, c = bits.Add64(x1, y2, c)
		x2, c = bits.Add64(x2, y3, c)
		x3 += c
		_, c = bits.Add64(l0, y0, 0)
		l0, c = bits.Add64(l1, x0, c)
		l1, c = bits.Add64(l2, x1, c)
		l2, c = bits.Add64(l3, x2, c)
		l3 = x3 + c
	}

	// The sum is below 2.1 q + 1 < 2^256.
	l0, c = bits.Add64(l0, h0, 0)
	l1, c = bits.Add64(l1, h1, c)
	l2, c = bits.Add64(l2, h2, c)
	l3, _ = bits.Add64(l3, h3, c)
	z := fr.Element{l0, l1, l2, l3}
	subtractOnce(&z)
	subtractOnce(&z)
	return z
}

// subtractOnce subtracts q where z is not below it.
func subtractOnce(z *fr.Element) {
	a0, b := bits.Sub64(z[0], modulus[0], 0)
	a1, b := bits.Sub64(z[1], modulus[1], b)
	a2, b := bits.Sub64(z[2], modulus[2], b)
	a3, b := bits.Sub64(z[3], modulus[3], b)
	if b == 0 {
		*z = fr.Element{a0, a1, a2, a3}
	}
}
