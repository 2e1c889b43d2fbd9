package groth16

import (
	"context"
	"fmt"
	"sync"

	"github.com/consensys/gnark-crypto/ecc"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// msmPoints is how many points are multiplied and added in one go, between looks at the context.
const msmPoints = 1 << 18

// sumG1 is the sum of points times their variables' values.
func sumG1(ctx context.Context, points []bls12381.G1Affine, sel *selection, inputs, aux []fr.Element, workers int) (bls12381.G1Jac, error) {
	var total bls12381.G1Jac
	ones, rest, err := sumOnes[fp.Element](ctx, asPointsG1(points), sel, inputs, aux, workers)
	if err != nil {
		return total, err
	}
	n := min(len(rest), msmPoints)
	bases, scalars := make([]bls12381.G1Affine, n), make([]fr.Element, n)
	for len(rest) > 0 {
		n = min(n, len(rest))
		for i, p := range rest[:n] {
			bases[i], scalars[i] = points[p.point], *p.scalar
		}
		part, err := msmG1(ctx, bases[:n], scalars[:n], workers)
		if err != nil {
			return total, err
		}
		total.AddAssign(&part)
		rest = rest[n:]
	}
	total.AddMixed((*bls12381.G1Affine)(&ones))
	return total, ctx.Err()
}

// sumG2 is [sumG1] for G2.
func sumG2(ctx context.Context, points []bls12381.G2Affine, sel *selection, inputs, aux []fr.Element, workers int) (bls12381.G2Jac, error) {
	var total bls12381.G2Jac
	ones, rest, err := sumOnes[bls12381.E2](ctx, asPointsG2(points), sel, inputs, aux, workers)
	if err != nil {
		return total, err
	}
	n := min(len(rest), msmPoints)
	bases, scalars := make([]bls12381.G2Affine, n), make([]fr.Element, n)
	for len(rest) > 0 {
		n = min(n, len(rest))
		for i, p := range rest[:n] {
			bases[i], scalars[i] = points[p.point], *p.scalar
		}
		var part bls12381.G2Jac
		if _, err := part.MultiExp(bases[:n], scalars[:n], ecc.MultiExpConfig{NbTasks: processors(workers)}); err != nil {
			return total, fmt.Errorf("multi-scalar multiplication: %w", err)
		}
		total.AddAssign(&part)
		rest = rest[n:]
		if err := ctx.Err(); err != nil {
			return total, err
		}
	}
	total.AddMixed((*bls12381.G2Affine)(&ones))
	return total, ctx.Err()
}

// msmG1 is the sum of points times scalars, of which most are neither zero nor one.
func msmG1(ctx context.Context, points []bls12381.G1Affine, scalars []fr.Element, workers int) (bls12381.G1Jac, error) {
	var total bls12381.G1Jac
	for len(points) > 0 {
		if err := ctx.Err(); err != nil {
			return total, err
		}
		n := min(len(points), msmPoints)
		var part bls12381.G1Jac
		if _, err := part.MultiExp(points[:n], scalars[:n], ecc.MultiExpConfig{NbTasks: processors(workers)}); err != nil {
			return total, fmt.Errorf("multi-scalar multiplication: %w", err)
		}
		total.AddAssign(&part)
		points, scalars = points[n:], scalars[n:]
	}
	return total, ctx.Err()
}

// sumOnes adds up the points whose variable is one, and lists those whose variable is neither zero
// nor one.
func sumOnes[F any, P field[F]](ctx context.Context, points []point[F], sel *selection, inputs, aux []fr.Element, workers int) (point[F], []pick, error) {
	rest := make([][]pick, sel.runs()+1)
	total := newSummer[F, P](points)
	v := visitor{one: total.pick}
	sel.inputsTo(&v, inputs)
	rest[0] = v.rest
	var mu sync.Mutex
	var summers []*summer[F, P]
	each(sel.runs(), workers, func() func(int) {
		s := newSummer[F, P](points)
		mu.Lock()
		summers = append(summers, s)
		mu.Unlock()
		return func(k int) {
			if ctx.Err() != nil {
				return
			}
			v := visitor{one: s.pick}
			sel.runTo(&v, k, aux)
			rest[k+1] = v.rest
		}
	})
	sums := []point[F]{total.sum()}
	for _, s := range summers {
		sums = append(sums, s.sum())
	}
	a := newAdder[F, P]()
	for i := range sums[1:] {
		a.add(sums[:1], sums[1:], []int32{int32(i) + 1}) //nolint:gosec // small
	}
	n := 0
	for _, r := range rest {
		n += len(r)
	}
	all := make([]pick, 0, n)
	for _, r := range rest {
		all = append(all, r...)
	}
	return sums[0], all, ctx.Err()
}
