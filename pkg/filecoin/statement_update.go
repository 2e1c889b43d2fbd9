package filecoin

import (
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// UpdateStatement is what a sector update (SnapDeals) proves: that the replica of comm_r_old was re-encoded with the data
// of comm_d_new as comm_r_new. It names no miner and no sector.
type UpdateStatement struct {
	Proof                        RegisteredUpdateProof
	CommROld, CommRNew, CommDNew Node
}

// Validate tells whether the statement can be proved at all: a known proof, commitments that are field elements.
func (s *UpdateStatement) Validate() error {
	if !s.Proof.Valid() {
		return impossible("registered update proof %d is unknown", uint64(s.Proof))
	}
	return canonical(named{"comm_r_old", s.CommROld}, named{"comm_r_new", s.CommRNew}, named{"comm_d_new", s.CommDNew})
}

// Partitions is the number of partition proofs.
func (s *UpdateStatement) Partitions() int { return s.Proof.Size().UpdatePartitions() }

// PublicInputs are the public inputs of partition k in the circuit's order, without the constant one: k with the selector
// of h above it, comm_r_old, comm_d_new, comm_r_new. It is an error for an impossible statement and for k out of range.
func (s *UpdateStatement) PublicInputs(k int) ([]fr.Element, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := inRange(k, s.Partitions()); err != nil {
		return nil, err
	}
	size := s.Proof.Size()
	partitionBits := bits.TrailingZeros(uint(size.UpdatePartitions()))
	out := make([]fr.Element, 4)
	out[0] = fr.NewElement(uint64(k) | size.UpdateHSelect()<<partitionBits) //nolint:gosec // k is in range
	for i, n := range [3]*Node{&s.CommROld, &s.CommDNew, &s.CommRNew} {
		e, err := n.Element()
		if err != nil {
			return nil, impossible("%s is not a field element", n)
		}
		out[1+i] = e
	}
	return out, nil
}
