package groth16

import (
	"context"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"
	"golang.org/x/sync/errgroup"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// columns are the values at tau of the polynomials of each variable's column of one matrix.
type columns struct{ inputs, aux []fr.Element }

// lagrange computes the Lagrange polynomials of the domain of size n at tau, for the first k points:
// L_i(tau) = w^i (tau^n - 1) / (n (tau - w^i)). tau must not be in the domain.
func lagrange(tau *fr.Element, n, k, workers int) ([]fr.Element, error) {
	w, err := fft.Generator(uint64(n)) //nolint:gosec // positive
	if err != nil {
		return nil, err
	}
	scale := vanishing(tau, n)
	var size fr.Element
	size.SetUint64(uint64(n)).Inverse(&size) //nolint:gosec // positive
	scale.Mul(&scale, &size)
	out := make([]fr.Element, k)
	const chunk = 1 << 12
	each((k+chunk-1)/chunk, workers, func() func(int) {
		roots, diffs := make([]fr.Element, chunk), make([]fr.Element, chunk)
		return func(c int) {
			from := c * chunk
			dst := out[from:min(k, from+chunk)]
			powers(roots[:len(dst)], &w, from)
			for i := range dst {
				diffs[i].Sub(tau, &roots[i])
			}
			for i, inv := range fr.BatchInvert(diffs[:len(dst)]) {
				dst[i].Mul(&roots[i], &inv)
				dst[i].Mul(&dst[i], &scale)
			}
		}
	})
	return out, nil
}

// powers sets dst[i] to base^(from+i).
func powers(dst []fr.Element, base *fr.Element, from int) {
	var p fr.Element
	p.Exp(*base, big.NewInt(int64(from)))
	for i := range dst {
		dst[i] = p
		p.Mul(&p, base)
	}
}

// vanishing is tau^n - 1, zero exactly on the domain of size n.
func vanishing(tau *fr.Element, n int) fr.Element {
	var z, one fr.Element
	one.SetOne()
	z.Exp(*tau, big.NewInt(int64(n)))
	z.Sub(&z, &one)
	return z
}

// columnsAt evaluates the three matrices' columns, given the Lagrange polynomials at tau for every
// constraint. The matrices are evaluated at once.
func columnsAt(ctx context.Context, sys *r1cs.System, at []fr.Element) (out [3]columns, err error) {
	g, running := errgroup.WithContext(ctx)
	for i, name := range []r1cs.MatrixName{r1cs.MatrixA, r1cs.MatrixB, r1cs.MatrixC} {
		g.Go(func() error {
			out[i] = columns{make([]fr.Element, sys.NumInputs), make([]fr.Element, sys.NumAux)}
			for k := range sys.Blocks {
				b := &sys.Blocks[k]
				for instance := range b.Repeat {
					if err := running.Err(); err != nil {
						return err
					}
					out[i].addInstance(b, b.Matrix(name), sys.Coeffs, instance, at[b.RowStart+instance*b.Rows:])
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return out, err
	}
	// input_i * 0 = 0
	first := sys.NumConstraints - sys.NumInputs
	for i := range sys.NumInputs {
		out[0].inputs[i].Add(&out[0].inputs[i], &at[first+i])
	}
	return out, nil
}

// addInstance adds each coefficient of an instance times its row's value to its column.
func (c *columns) addInstance(b *r1cs.Block, m *r1cs.Matrix, coeffs []fr.Element, instance int, at []fr.Element) {
	var t fr.Element
	from := uint32(0)
	for r, end := range m.End {
		row := &at[r]
		for k := from; k < end; k++ {
			v := m.Vars[k]
			dst := c.inputs
			if v.IsAux() {
				dst = c.aux
			}
			x := &dst[b.Position(v, instance)]
			switch coeff := m.Coeff[k]; coeff {
			case r1cs.CoeffOne:
				x.Add(x, row)
			case r1cs.CoeffMinusOne:
				x.Sub(x, row)
			default:
				x.Add(x, t.Mul(row, &coeffs[coeff]))
			}
		}
		from = end
	}
}
