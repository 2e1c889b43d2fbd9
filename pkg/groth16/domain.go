package groth16

import (
	"context"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"
)

// maxTabled is the largest domain whose roots and coset powers are kept: four elements a point. For
// larger ones they are computed anew by each transform, which costs a tenth of its time.
const maxTabled = 1 << 20

// newDomain makes the evaluation domain of n points, n a power of two, with the coset of 7.
func newDomain(n int) *fft.Domain {
	if n > maxTabled {
		return fft.NewDomain(uint64(n), fft.WithoutPrecompute())
	}
	return fft.NewDomain(uint64(n), fft.WithCache()) //nolint:gosec // positive
}

// transformElements is how many elements the tables of a domain of n points have.
func transformElements(n int64) int64 {
	if n > maxTabled {
		return n + n/4
	}
	return 4 * n
}

// quotient computes the coefficients of (A B - C) / Z, where A and B are given by their values on
// the domain, C has the values of A B there, and Z vanishes on the domain. a and b have the domain's
// size and are overwritten; the result has one element less.
//
// C is reduced already, so its coefficients can be subtracted after the product has come back from
// the coset, where Z is the constant 7^n - 1: six transforms in all, not seven.
func quotient(ctx context.Context, d *fft.Domain, a, b []fr.Element, workers int) ([]fr.Element, error) {
	n := len(a)
	if n == 1 { // the product of constants is their only value
		return nil, nil
	}
	tasks := fft.WithNbTasks(processors(workers))
	c := make([]fr.Element, n)
	mul(c, a, b, workers)
	for _, v := range [][]fr.Element{a, b, c} { // to coefficients, in bit-reversed order
		d.FFTInverse(v, fft.DIF, tasks)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	for _, v := range [][]fr.Element{a, b} { // to values on the coset
		d.FFT(v, fft.DIT, fft.OnCoset(), tasks)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	mul(a, a, b, workers)
	d.FFTInverse(a, fft.DIF, fft.OnCoset(), tasks)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	z := vanishing(&d.FrMultiplicativeGen, n)
	z.Inverse(&z)
	h := b // free since the product
	shift := 64 - bits.TrailingZeros(uint(n))
	eachChunk(n, workers, func(from, to int) {
		var t fr.Element
		for i := from; i < to; i++ {
			t.Sub(&a[i], &c[i])
			h[bits.Reverse64(uint64(i))>>shift].Mul(&t, &z) //nolint:gosec // positive
		}
	})
	return h[:n-1], nil
}

// mul sets dst to a times b, entry by entry.
func mul(dst, a, b []fr.Element, workers int) {
	eachChunk(len(dst), workers, func(from, to int) {
		v := fr.Vector(dst[from:to])
		v.Mul(fr.Vector(a[from:to]), fr.Vector(b[from:to]))
	})
}

// eachChunk calls f for chunks of 0 to n-1 on up to workers goroutines.
func eachChunk(n, workers int, f func(from, to int)) {
	const chunk = 1 << 12
	each((n+chunk-1)/chunk, workers, func() func(int) {
		return func(i int) { f(i*chunk, min(n, (i+1)*chunk)) }
	})
}
