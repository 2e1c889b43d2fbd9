package gadget

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/poseidon"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

// Tags of hash segments: which domain of the hash.
const (
	TagMerkleTree    = 0 // the hashes of trees, columns and commitments
	TagGenRandomness = 1 // the challenges and factors of a sector update
)

func constantsOf(arity int, tag uint8) *poseidon.Constants {
	if tag == TagGenRandomness {
		return poseidon.GenRandomness()
	}
	return poseidon.For(arity)
}

// Expand computes the variables of an expanded segment into dst, which has seg.Count elements.
// index is the position of the walked node for the operations of a Merkle path; elements are what
// the segment has in the witness. It does not allocate.
func Expand(seg r1cs.Segment, dst []fr.Element, index uint64, elements []fr.Element) {
	switch seg.Op {
	case r1cs.OpHash:
		constantsOf(int(seg.Arity), seg.Tag).States(dst, elements)
	case r1cs.OpMerkleStep, r1cs.OpMerkleStepGivenIndex:
		expandMerkleStep(seg.Op, dst, index, elements)
	default:
		panic("segment is not expanded: " + seg.Op.String())
	}
}
