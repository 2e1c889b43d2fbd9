package engine

import (
	"errors"
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/groth16"
)

// RejectedError lists the partitions whose proofs do not hold.
type RejectedError struct {
	Partitions []int
	Err        error // of the verification
}

func (e *RejectedError) Error() string {
	return fmt.Sprintf("proofs of partitions %v do not hold: %v", e.Partitions, e.Err)
}

func (e *RejectedError) Unwrap() error { return e.Err }

// Verify checks the proofs of the given partitions, proofs[i] being that of partitions[i], at once.
// It returns a *RejectedError that names those which do not hold.
func (j *Job) Verify(vk *groth16.PreparedVerifyingKey, partitions []int, proofs []*groth16.Proof) error {
	if len(partitions) != len(proofs) {
		return fmt.Errorf("%d proofs for %d partitions", len(proofs), len(partitions))
	}
	inputs := make([][]fr.Element, len(partitions))
	for i, k := range partitions {
		public, err := j.PublicInputs(k)
		if err != nil {
			return err
		}
		inputs[i] = public
	}
	err := vk.VerifyBatch(proofs, inputs)
	var invalid *groth16.InvalidProofsError
	if !errors.As(err, &invalid) {
		return err
	}
	rejected := &RejectedError{Err: err}
	for _, i := range invalid.Indices {
		rejected.Partitions = append(rejected.Partitions, partitions[i])
	}
	return rejected
}

// VerifyResult checks a whole result: the proofs of all partitions in order, 192 bytes each.
func (j *Job) VerifyResult(vk *groth16.PreparedVerifyingKey, result []byte) error {
	if want := j.Partitions() * groth16.ProofBytes; len(result) != want {
		return fmt.Errorf("result has %d bytes, a proof of %s with %d partitions has %d", len(result), j.circuit, j.Partitions(), want)
	}
	proofs, err := groth16.ParseProofs(result)
	if err != nil {
		return err
	}
	all := make([]int, len(proofs))
	for k := range all {
		all[k] = k
	}
	return j.Verify(vk, all, proofs)
}
