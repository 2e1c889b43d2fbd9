package gadget

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// ChallengeBits are the numbers of random bits that a sector update derives its challenges from.
type ChallengeBits struct {
	Challenges   int // of one partition
	PerChallenge int // bits of each
}

// perDigest is how many challenges one digest gives.
func (c ChallengeBits) perDigest() int { return Capacity / c.PerChallenge }

// digests is how many digests a partition needs. The last one may be used in part.
func (c ChallengeBits) digests() uint64 {
	return uint64((c.Challenges + c.perDigest() - 1) / c.perDigest()) //nolint:gosec // not negative
}

// Make makes the random bits of each challenge, least significant first: consecutive bits of Poseidon
// digests of commR and a counter, which goes on from one partition to the next. The counter of each
// digest is a variable of its own, as are all 255 bits of the digest.
func (c ChallengeBits) Make(cs *r1cs.CS, commR, partition Num) [][]Bit {
	challenges := make([][]Bit, 0, c.Challenges)
	digests := fr.NewElement(c.digests())
	for j := range c.digests() {
		counter := AllocNum(cs)
		sum := r1cs.LC(nil).AddScaled(digests, partition.Var).AddConstant(fr.NewElement(j))
		cs.Enforce(sum, oneLC, counter.LC())
		bits := DecomposeNum(cs, Hash(cs, TagGenRandomness, []Num{commR, counter}), fr.Bits)
		for i := 0; i < c.perDigest() && len(challenges) < c.Challenges; i++ {
			challenges = append(challenges, bits[i*c.PerChallenge:][:c.PerChallenge])
		}
	}
	return challenges
}

// Assign writes what [ChallengeBits.Make] allocates for a partition.
func (c ChallengeBits) Assign(a *r1cs.Assigner, commR *fr.Element, partition uint64) {
	for j := range c.digests() {
		counter := fr.NewElement(partition*c.digests() + j)
		a.Element(&counter)
		digest := AssignHash(a, TagGenRandomness, []fr.Element{*commR, counter})
		a.ElementBits(&digest, fr.Bits)
	}
}
