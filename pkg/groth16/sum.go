package groth16

import (
	"context"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// msmPoints is how many points are multiplied in one go: more would save little, and their copies
// and scalars take memory.
const msmPoints = 1 << 20

// msmLarge is [msm] in pieces of msmPoints.
func msmLarge[F any, P field[F]](ctx context.Context, points []point[F], scalars []fr.Element, workers int) (point[F], error) {
	parts := []point[F]{{}}
	for from := 0; from < len(points); from += msmPoints {
		to := min(len(points), from+msmPoints)
		p, err := msm[F, P](ctx, points[from:to], scalars[from:to], workers)
		if err != nil {
			return p, err
		}
		parts = append(parts, p)
	}
	return sumAll(newAdder[F, P](), parts), ctx.Err()
}

// sumOf is the sum of a section's points times their variables' values: those whose value is one are
// only added, which is what most of Filecoin's witnesses is made of, and the others multiplied.
func sumOf[F any, P field[F]](ctx context.Context, points []point[F], sel *selection, inputs, aux []fr.Element, workers int) (point[F], error) {
	ones, rest, err := sumOnes[F, P](ctx, points, sel, inputs, aux, workers)
	if err != nil {
		return ones, err
	}
	parts := []point[F]{ones}
	n := min(len(rest), msmPoints)
	bases, scalars := make([]point[F], n), make([]fr.Element, n)
	for len(rest) > 0 {
		n = min(n, len(rest))
		for i, p := range rest[:n] {
			bases[i], scalars[i] = points[p.point], *p.scalar
		}
		p, err := msm[F, P](ctx, bases[:n], scalars[:n], workers)
		if err != nil {
			return p, err
		}
		parts = append(parts, p)
		rest = rest[n:]
	}
	return sumAll(newAdder[F, P](), parts), ctx.Err()
}

// sumOnes adds up the points whose variable is one, and lists those whose variable is neither zero
// nor one.
func sumOnes[F any, P field[F]](ctx context.Context, points []point[F], sel *selection, inputs, aux []fr.Element, workers int) (point[F], []pick, error) {
	rest := make([][]pick, sel.runs()+1)
	first := newSummer[F, P](points)
	v := visitor{one: first.pick}
	sel.inputsTo(&v, inputs)
	rest[0] = v.rest
	var mu sync.Mutex
	summers := []*summer[F, P]{first}
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
	sums := make([]point[F], len(summers))
	for i, s := range summers {
		sums[i] = s.sum()
	}
	n := 0
	for _, r := range rest {
		n += len(r)
	}
	all := make([]pick, 0, n)
	for _, r := range rest {
		all = append(all, r...)
	}
	return sumAll(newAdder[F, P](), sums), all, ctx.Err()
}
