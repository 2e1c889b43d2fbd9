package groth16

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"strings"

	"github.com/consensys/gnark-crypto/ecc"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// InvalidProofsError says which proofs of a batch do not hold. It wraps [ErrInvalidProof].
type InvalidProofsError struct {
	Indices []int // rising
	Of      int
}

func (e *InvalidProofsError) Error() string {
	var s strings.Builder
	for i, k := range e.Indices {
		if i > 0 {
			s.WriteString(", ")
		}
		fmt.Fprintf(&s, "%d", k)
	}
	return fmt.Sprintf("proofs %s of %d are not valid", s.String(), e.Of)
}

// Unwrap is [ErrInvalidProof].
func (e *InvalidProofsError) Unwrap() error { return ErrInvalidProof }

// VerifyBatch checks several proofs of the same circuit at once: a random linear combination of
// their equations holds (but for a chance below 2^-127) only if each does. inputs[i] are those of
// proofs[i], as for [PreparedVerifyingKey.Verify]. When the combination does not hold, the proofs
// that are to blame are searched by halving, and returned as an [*InvalidProofsError].
func (k *PreparedVerifyingKey) VerifyBatch(proofs []*Proof, inputs [][]fr.Element) error {
	if len(proofs) != len(inputs) || len(proofs) == 0 {
		return fmt.Errorf("batch has %d proofs and %d lists of public inputs", len(proofs), len(inputs))
	}
	for i := range inputs {
		if err := k.checkInputs(inputs[i]); err != nil {
			return fmt.Errorf("proof %d of %d: %w", i, len(proofs), err)
		}
	}
	var bad []int
	var search func(from, to int) error
	search = func(from, to int) error {
		err := k.verifyTogether(proofs[from:to], inputs[from:to])
		switch {
		case !errors.Is(err, ErrInvalidProof):
			return err
		case to-from == 1:
			bad = append(bad, from)
			return nil
		}
		mid := (from + to) / 2
		if err := search(from, mid); err != nil {
			return err
		}
		return search(mid, to)
	}
	if err := search(0, len(proofs)); err != nil {
		return err
	}
	if len(bad) > 0 {
		return &InvalidProofsError{bad, len(proofs)}
	}
	return nil
}

// verifyTogether checks the combination of the proofs' equations.
func (k *PreparedVerifyingKey) verifyTogether(proofs []*Proof, inputs [][]fr.Element) error {
	if len(proofs) == 1 {
		return k.Verify(proofs[0], inputs[0])
	}
	n := len(proofs)
	z := make([]fr.Element, n)
	a, b, c := make([]bls12381.G1Affine, n), make([]bls12381.G2Affine, n), make([]bls12381.G1Affine, n)
	sums := make([]fr.Element, len(k.vk.IC)-1)
	var total, t fr.Element
	for i, p := range proofs {
		if p.hasInfinity() {
			return ErrInvalidProof
		}
		zi, err := randomizer()
		if err != nil {
			return err
		}
		z[i].SetBigInt(zi)
		total.Add(&total, &z[i])
		for j := range sums {
			sums[j].Add(&sums[j], t.Mul(&z[i], &inputs[i][j]))
		}
		a[i].ScalarMultiplication(&p.A, zi)
		b[i], c[i] = p.B, p.C
	}
	input, err := k.inputSum(total, sums)
	if err != nil {
		return err
	}
	var delta bls12381.G1Affine
	if _, err := delta.MultiExp(c, z, ecc.MultiExpConfig{NbTasks: runtime.GOMAXPROCS(0)}); err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	var want bls12381.GT
	want.CyclotomicExp(k.alphaBeta, total.BigInt(new(big.Int)))
	ok, err := k.check(a, b, input, delta, want)
	if err != nil {
		return err
	}
	if !ok {
		return ErrInvalidProof
	}
	return nil
}

// randomizer draws a non-zero number of 128 bits.
func randomizer() (*big.Int, error) {
	limit := new(big.Int).Lsh(big.NewInt(1), 128)
	z, err := rand.Int(rand.Reader, limit.Sub(limit, big.NewInt(1)))
	if err != nil {
		return nil, fmt.Errorf("random numbers: %w", err)
	}
	return z.Add(z, big.NewInt(1)), nil
}
