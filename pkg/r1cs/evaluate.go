package r1cs

import (
	"context"
	"runtime"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"golang.org/x/sync/errgroup"
)

// evalRows is how many rows one task of Evaluate covers.
const evalRows = 1 << 14

// Evaluate computes <row, z> for every constraint of matrix m, input constraints included: dst[k]
// for k < NumConstraints; the rest of dst is left alone. inputs and aux are the assignment, of
// lengths NumInputs and NumAux. It uses up to workers goroutines (all processors if 0) and blocks
// until done or ctx ends.
func (s *System) Evaluate(ctx context.Context, m MatrixName, dst, inputs, aux []fr.Element, workers int) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var g errgroup.Group
	g.SetLimit(workers)
	stored := s.NumConstraints - s.NumInputs
	for from := 0; from < stored; from += evalRows {
		if ctx.Err() != nil {
			break
		}
		to := min(from+evalRows, stored)
		g.Go(func() error {
			s.eachRow(from, to, func(b *Block, i, r, k int) {
				b.evaluateRow(&dst[k], b.Matrix(m), s.Coeffs, inputs, aux, i, r)
			})
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if m == MatrixA {
		copy(dst[stored:s.NumConstraints], inputs)
	} else {
		clear(dst[stored:s.NumConstraints])
	}
	return ctx.Err()
}

// eachRow calls f for the stored constraints from to to-1 with the block, instance, row of the
// instance, and absolute number of each.
func (s *System) eachRow(from, to int, f func(b *Block, i, r, k int)) {
	for n := range s.Blocks {
		b := &s.Blocks[n]
		end := b.RowStart + b.Repeat*b.Rows
		for from < to && from >= b.RowStart && from < end {
			i, r := (from-b.RowStart)/b.Rows, (from-b.RowStart)%b.Rows
			for stop := min(b.Rows, r+to-from); r < stop; r++ {
				f(b, i, r, from)
				from++
			}
		}
	}
}

// evaluateRow sets dst to <row r of m, assignment> in instance i.
func (b *Block) evaluateRow(dst *fr.Element, m *Matrix, coeffs, inputs, aux []fr.Element, i, r int) {
	var sum, t fr.Element
	from, to := m.Row(r)
	for k := from; k < to; k++ {
		v := m.Vars[k]
		value := inputs
		if v.IsAux() {
			value = aux
		}
		addTerm(&sum, &t, &value[b.Position(v, i)], coeffs, m.Coeff[k])
	}
	*dst = sum
}

// addTerm adds x times coefficient c to sum; t is room for the product. Most values are bits and most coefficients are
// one or minus one, so both are looked at before multiplying.
func addTerm(sum, t, x *fr.Element, coeffs []fr.Element, c uint16) {
	switch {
	case x.IsZero():
	case c == CoeffOne:
		sum.Add(sum, x)
	case c == CoeffMinusOne:
		sum.Sub(sum, x)
	case x.IsOne():
		sum.Add(sum, &coeffs[c])
	default:
		sum.Add(sum, t.Mul(x, &coeffs[c]))
	}
}
