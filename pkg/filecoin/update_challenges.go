package filecoin

import (
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/poseidon"
)

// Challenges are the challenged leaves of partition k: bits of Poseidon digests of comm_r_new and a counter, below the
// bits of k, so that they lie in the k-th part of the sector. A digest yields as many challenges as fit 254 bits. The
// statement must be valid and k in range.
func (s *UpdateStatement) Challenges(k int) ([]uint64, error) {
	size := s.Proof.Size()
	commR, err := s.CommRNew.Element()
	if err != nil {
		return nil, impossible("comm_r_new %s is not a field element", s.CommRNew)
	}
	random := size.Levels() - bits.TrailingZeros(uint(size.UpdatePartitions()))
	perDigest := (fr.Bits - 1) / random
	out := make([]uint64, 0, size.UpdateChallenges())
	digests := (cap(out) + perDigest - 1) / perDigest
	for i := range digests {
		counter := fr.NewElement(uint64(k*digests + i)) //nolint:gosec // k is in range
		digest := poseidon.GenRandomness().Hash([]fr.Element{commR, counter})
		words := digest.Bits()
		for j := 0; j < perDigest && len(out) < cap(out); j++ {
			out = append(out, bitRange(&words, j*random, random)|uint64(k)<<random) //nolint:gosec // k is in range
		}
	}
	return out, nil
}

// bitRange is the n <= 32 bits from bit `from` of a little-endian number.
func bitRange(words *[4]uint64, from, n int) uint64 {
	v := words[from/64] >> (from % 64)
	if from%64+n > 64 {
		v |= words[from/64+1] << (64 - from%64)
	}
	return v & (1<<n - 1)
}

// Phi is the statement's randomness for the encoding: Poseidon of comm_d_new and comm_r_old under the tag of generated
// randomness.
func (s *UpdateStatement) Phi() (fr.Element, error) {
	d, err := s.CommDNew.Element()
	if err != nil {
		return fr.Element{}, impossible("comm_d_new %s is not a field element", s.CommDNew)
	}
	r, err := s.CommROld.Element()
	if err != nil {
		return fr.Element{}, impossible("comm_r_old %s is not a field element", s.CommROld)
	}
	return poseidon.GenRandomness().Hash([]fr.Element{d, r}), nil
}

// Rho is the factor by which new data enters the replica at a node: Poseidon of phi and the node's high bits.
func (s *UpdateStatement) Rho(phi fr.Element, node uint64) fr.Element {
	size := s.Proof.Size()
	high := fr.NewElement(node >> (size.Levels() - size.UpdateH()))
	return poseidon.GenRandomness().Hash([]fr.Element{phi, high})
}
