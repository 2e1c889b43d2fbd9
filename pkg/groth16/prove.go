package groth16

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"

	"github.com/proofmill/proofmill/pkg/r1cs"
	"github.com/proofmill/proofmill/pkg/witness"
)

// Names of the stages of a proof, in their order.
const (
	StageExpand     = "expand"     // the witness to all values
	StageEvaluate   = "evaluate"   // A w and B w
	StageTransforms = "transforms" // the quotient's coefficients
	StageH          = "msm_h"
	StageL          = "msm_l"
	StageA          = "msm_a"
	StageBG1        = "msm_b_g1"
	StageBG2        = "msm_b_g2"
	StageFinish     = "finish"
)

// Stage is a stage of a proof that has ended.
type Stage struct {
	Name     string
	Start    time.Time
	Duration time.Duration
}

// ProveOptions are the choices of a proof. The zero value will do.
type ProveOptions struct {
	Workers   int         // goroutines; all processors if 0
	R, S      *fr.Element // the proof's randomness, both or none; fixed only in tests
	StageHook func(Stage) // called in the proving goroutine at the end of each stage
}

// Prover makes proofs of one circuit on the CPU. It may be used by any number of goroutines at
// once, each proof with the memory that [Counts.ProverBytes] says.
type Prover struct {
	sys     *r1cs.System
	key     *Key
	l, a, b *selection
	domain  *fft.Domain
}

// NewProver makes a prover of sys with a key. A key of another circuit is an error that wraps
// [ErrParamsForeign], as far as counts tell.
func NewProver(sys *r1cs.System, key *Key) (*Prover, error) {
	a, b := sys.Density(r1cs.MatrixA), sys.Density(r1cs.MatrixB)
	if err := fits(key.path, countsOf(sys, &a, &b), key.Counts()); err != nil {
		return nil, err
	}
	return &Prover{
		sys: sys, key: key,
		l:      selectAux(sys.NumAux),
		a:      newSelection(allInputs(sys.NumInputs), a.Aux, sys.NumAux),
		b:      newSelection(membersOf(b.Inputs, sys.NumInputs), b.Aux, sys.NumAux),
		domain: newDomain(domainSize(sys.NumConstraints)),
	}, nil
}

// Prove makes a proof of a witness. It does not check that the witness satisfies the circuit: if it
// does not, the proof is not valid, so verify each proof before it leaves. It blocks until done or
// ctx ends, which it looks at several times a second.
func (p *Prover) Prove(ctx context.Context, w *witness.Witness, opts ProveOptions) (*Proof, error) {
	proof, err := p.prove(ctx, w, opts)
	if err != nil {
		return nil, fmt.Errorf("prove: %w", err)
	}
	return proof, nil
}

func (p *Prover) prove(ctx context.Context, w *witness.Witness, opts ProveOptions) (*Proof, error) {
	if w.System.NumAux != p.sys.NumAux || len(w.Inputs) != p.sys.NumInputs || w.System.NumConstraints != p.sys.NumConstraints {
		return nil, fmt.Errorf("witness is of a circuit with %d inputs, %d auxiliary variables and %d constraints, the prover's has %d, %d and %d",
			len(w.Inputs), w.System.NumAux, w.System.NumConstraints, p.sys.NumInputs, p.sys.NumAux, p.sys.NumConstraints)
	}
	r, s, err := opts.randomness()
	if err != nil {
		return nil, err
	}
	var (
		aux, a, b, h   []fr.Element
		m              sums
		k              = p.key
		proof          *Proof
		inputs, worker = w.Inputs, opts.Workers
	)
	for _, stage := range []struct {
		name string
		run  func() error
	}{
		{StageExpand, func() error {
			aux, err = w.Aux(ctx, worker)
			return err
		}},
		{StageEvaluate, func() error {
			n := domainSize(p.sys.NumConstraints)
			a, b = make([]fr.Element, n), make([]fr.Element, n)
			if err := p.sys.Evaluate(ctx, r1cs.MatrixA, a, inputs, aux, worker); err != nil {
				return err
			}
			return p.sys.Evaluate(ctx, r1cs.MatrixB, b, inputs, aux, worker)
		}},
		{StageTransforms, func() error {
			h, err = quotient(ctx, p.domain, a, b, worker)
			a, b = nil, nil
			return err
		}},
		{StageH, func() error {
			m.h, err = msmLarge[fp.Element](ctx, asPointsG1(k.H[:len(h)]), h, worker)
			h = nil
			return err
		}},
		{StageL, func() error {
			m.l, err = sumOf[fp.Element](ctx, asPointsG1(k.L), p.l, nil, aux, worker)
			return err
		}},
		{StageA, func() error {
			m.a, err = sumOf[fp.Element](ctx, asPointsG1(k.A), p.a, inputs, aux, worker)
			return err
		}},
		{StageBG1, func() error {
			m.b1, err = sumOf[fp.Element](ctx, asPointsG1(k.BG1), p.b, inputs, aux, worker)
			return err
		}},
		{StageBG2, func() error {
			m.b2, err = sumOf[bls12381.E2](ctx, asPointsG2(k.BG2), p.b, inputs, aux, worker)
			return err
		}},
		{StageFinish, func() error {
			proof = m.finish(k.VK, r, s)
			if proof.hasInfinity() {
				return errors.New("a point of the proof is at infinity")
			}
			return nil
		}},
	} {
		start := time.Now()
		if err := stage.run(); err != nil {
			return nil, fmt.Errorf("%s: %w", stage.name, err)
		}
		if opts.StageHook != nil {
			opts.StageHook(Stage{stage.name, start, time.Since(start)})
		}
	}
	return proof, nil
}

func (o *ProveOptions) randomness() (r, s *fr.Element, err error) {
	if (o.R == nil) != (o.S == nil) {
		return nil, nil, errors.New("randomness r and s must be given together")
	}
	if o.R != nil {
		return o.R, o.S, nil
	}
	r, s = new(fr.Element), new(fr.Element)
	if _, err := r.SetRandom(); err != nil {
		return nil, nil, fmt.Errorf("randomness: %w", err)
	}
	if _, err := s.SetRandom(); err != nil {
		return nil, nil, fmt.Errorf("randomness: %w", err)
	}
	return r, s, nil
}

// sums are the results of the multi-scalar multiplications.
type sums struct {
	h, l, a, b1 pointG1
	b2          pointG2
}

// finish computes
//
//	A = alpha + a + r delta
//	B = beta + b + s delta
//	C = h + l + s A + r B' - r s delta, where B' is B in G1
func (m *sums) finish(vk *VerifyingKey, r, s *fr.Element) *Proof {
	var rs fr.Element
	rs.Mul(r, s)
	rr, ss, rrss := r.BigInt(new(big.Int)), s.BigInt(new(big.Int)), rs.BigInt(new(big.Int))
	var delta1, a, b1, c, t bls12381.G1Jac
	var delta2, b2 bls12381.G2Jac
	delta1.FromAffine(&vk.DeltaG1)
	delta2.FromAffine(&vk.DeltaG2)

	a.FromAffine((*bls12381.G1Affine)(&m.a))
	a.AddMixed(&vk.AlphaG1)
	a.AddAssign(t.ScalarMultiplication(&delta1, rr))

	b2.ScalarMultiplication(&delta2, ss)
	b2.AddMixed((*bls12381.G2Affine)(&m.b2))
	b2.AddMixed(&vk.BetaG2)

	b1.FromAffine((*bls12381.G1Affine)(&m.b1))
	b1.AddMixed(&vk.BetaG1)
	b1.AddAssign(t.ScalarMultiplication(&delta1, ss))

	c.FromAffine((*bls12381.G1Affine)(&m.h))
	c.AddMixed((*bls12381.G1Affine)(&m.l))
	c.AddAssign(t.ScalarMultiplication(&a, ss))
	c.AddAssign(t.ScalarMultiplication(&b1, rr))
	c.SubAssign(t.ScalarMultiplication(&delta1, rrss))

	p := new(Proof)
	p.A.FromJacobian(&a)
	p.B.FromJacobian(&b2)
	p.C.FromJacobian(&c)
	return p
}
