package groth16

import (
	"fmt"
	"runtime"

	"github.com/consensys/gnark-crypto/ecc"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// lines are the line evaluations of the Miller loop for a fixed point of G2.
type lines = [2][len(bls12381.LoopCounter) - 1]bls12381.LineEvaluationAff

// PreparedVerifyingKey is a verifying key with what all verifications share already computed. It
// is immutable and may be used by any number of goroutines.
type PreparedVerifyingKey struct {
	vk        *VerifyingKey
	alphaBeta bls12381.GT // e(alpha, beta)
	negGamma  lines
	negDelta  lines
}

// Prepare computes what verifications with vk share, in a few milliseconds. vk must not be changed
// afterwards.
func Prepare(vk *VerifyingKey) (*PreparedVerifyingKey, error) {
	if len(vk.IC) == 0 {
		return nil, fmt.Errorf("verifying key has no inputs, want at least the constant one's")
	}
	alphaBeta, err := bls12381.Pair([]bls12381.G1Affine{vk.AlphaG1}, []bls12381.G2Affine{vk.BetaG2})
	if err != nil {
		return nil, fmt.Errorf("verifying key: %w", err)
	}
	var gamma, delta bls12381.G2Affine
	gamma.Neg(&vk.GammaG2)
	delta.Neg(&vk.DeltaG2)
	return &PreparedVerifyingKey{
		vk: vk, alphaBeta: alphaBeta,
		negGamma: bls12381.PrecomputeLines(gamma),
		negDelta: bls12381.PrecomputeLines(delta),
	}, nil
}

// VerifyingKey is the key that was prepared; it must not be changed.
func (k *PreparedVerifyingKey) VerifyingKey() *VerifyingKey { return k.vk }

// Verify checks one proof against its public inputs, without the constant one. The proof's points must be in their subgroups, as [ParseProof] makes sure. A proof that does not hold
// gives an error that wraps [ErrInvalidProof]; other errors say that the inputs do not fit the key.
//
// It takes a few milliseconds of one core, more when there are thousands of inputs.
func (k *PreparedVerifyingKey) Verify(p *Proof, inputs []fr.Element) error {
	if err := k.checkInputs(inputs); err != nil {
		return err
	}
	if p.hasInfinity() {
		return fmt.Errorf("%w: %w", ErrInvalidProof, errInfinity)
	}
	var one fr.Element
	one.SetOne()
	sum, err := k.inputSum(one, inputs)
	if err != nil {
		return err
	}
	// e(A, B) e(sum, -gamma) e(C, -delta) = e(alpha, beta), with one final exponentiation.
	ok, err := k.check([]bls12381.G1Affine{p.A}, []bls12381.G2Affine{p.B}, sum, p.C, k.alphaBeta)
	if err != nil {
		return err
	}
	if !ok {
		return ErrInvalidProof
	}
	return nil
}

// Verify checks one proof, see [PreparedVerifyingKey.Verify]. Prepare a key that is used more than
// once.
func Verify(vk *VerifyingKey, p *Proof, inputs []fr.Element) error {
	k, err := Prepare(vk)
	if err != nil {
		return err
	}
	return k.Verify(p, inputs)
}

func (k *PreparedVerifyingKey) checkInputs(inputs []fr.Element) error {
	if len(inputs) != len(k.vk.IC)-1 {
		return fmt.Errorf("proof has %d public inputs, its verifying key takes %d", len(inputs), len(k.vk.IC)-1)
	}
	return nil
}

// inputSum is the sum of the IC points times the constant and the inputs.
func (k *PreparedVerifyingKey) inputSum(constant fr.Element, inputs []fr.Element) (bls12381.G1Affine, error) {
	var sum bls12381.G1Affine
	scalars := append([]fr.Element{constant}, inputs...)
	_, err := sum.MultiExp(k.vk.IC, scalars, ecc.MultiExpConfig{NbTasks: runtime.GOMAXPROCS(0)})
	if err != nil {
		return sum, fmt.Errorf("public inputs: %w", err)
	}
	return sum, nil
}

// check says whether the product of e(a[i], b[i]), e(inputs, -gamma) and e(c, -delta) is want.
func (k *PreparedVerifyingKey) check(a []bls12381.G1Affine, b []bls12381.G2Affine, inputs, c bls12381.G1Affine, want bls12381.GT) (bool, error) {
	f, err := bls12381.MillerLoop(a, b)
	if err != nil {
		return false, fmt.Errorf("pairing: %w", err)
	}
	// The loop over fixed points does not take points at infinity, and it overwrites the lines.
	var points []bls12381.G1Affine
	var fixed []lines
	if !inputs.IsInfinity() {
		points, fixed = append(points, inputs), append(fixed, k.negGamma)
	}
	if !c.IsInfinity() {
		points, fixed = append(points, c), append(fixed, k.negDelta)
	}
	if len(points) > 0 {
		g, err := bls12381.MillerLoopFixedQ(points, fixed)
		if err != nil {
			return false, fmt.Errorf("pairing: %w", err)
		}
		f.Mul(&f, &g)
	}
	got := bls12381.FinalExponentiation(&f)
	return got.Equal(&want), nil
}
