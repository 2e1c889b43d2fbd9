package r1cs

import (
	"context"
	"fmt"
	"runtime"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"golang.org/x/sync/errgroup"
)

// UnsatisfiedError names the first constraint that an assignment violates.
type UnsatisfiedError struct {
	Constraint int // absolute number
	Block      string
	Instance   int
	Row        int // within the instance
}

func (e *UnsatisfiedError) Error() string {
	return fmt.Sprintf("constraint %d is not satisfied (block %s, instance %d, row %d)", e.Constraint, e.Block, e.Instance, e.Row)
}

// Satisfied checks every stored constraint against an assignment of NumInputs inputs and NumAux
// auxiliary values, on all processors. It returns an *UnsatisfiedError for the first violated one.
func (s *System) Satisfied(ctx context.Context, inputs, aux []fr.Element) error {
	if len(inputs) != s.NumInputs || len(aux) != s.NumAux {
		return fmt.Errorf("assignment has %d inputs and %d auxiliary values, want %d and %d", len(inputs), len(aux), s.NumInputs, s.NumAux)
	}
	stored := s.NumConstraints - s.NumInputs
	tasks := (stored + evalRows - 1) / evalRows
	first := make([]*UnsatisfiedError, tasks)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for t := range tasks {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			s.eachRow(t*evalRows, min((t+1)*evalRows, stored), func(b *Block, i, r, k int) {
				if first[t] == nil && !b.satisfied(s.Coeffs, inputs, aux, i, r) {
					first[t] = &UnsatisfiedError{k, b.Name, i, r}
				}
			})
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, e := range first {
		if e != nil {
			return e
		}
	}
	return ctx.Err()
}

func (b *Block) satisfied(coeffs, inputs, aux []fr.Element, i, r int) bool {
	var x, y, z fr.Element
	b.evaluateRow(&x, &b.A, coeffs, inputs, aux, i, r)
	b.evaluateRow(&y, &b.B, coeffs, inputs, aux, i, r)
	b.evaluateRow(&z, &b.C, coeffs, inputs, aux, i, r)
	x.Mul(&x, &y)
	return x.Equal(&z)
}
