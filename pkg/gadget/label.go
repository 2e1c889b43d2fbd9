package gadget

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// LabelParents is how many parents a label hashes.
const LabelParents = 37

// labelWords is the length of what a label hashes: the replica id; layer, node and zeros up to the
// same length; the parents.
const labelWords = 8 * (2 + LabelParents)

// Label makes the label of a node in a layer (1 is the first) of a replica: SHA-256 of replica id,
// layer, node and parents, as a number with the two top bits cleared. Replica id and parents are
// 256 bits each, as [ReverseBitNumbering] has them. The parents are repeated in their order until
// there are [LabelParents].
//
// Its assignment is [AssignLabel].
func Label(cs *r1cs.CS, replicaID []Boolean, layer uint32, node *UInt64, parents [][]Boolean) Num {
	message := make([]Boolean, 0, 32*labelWords)
	message = append(message, replicaID...)
	layerWord := ConstantUInt32(layer)
	message = layerWord.AppendBitsBE(message)
	message = node.AppendBitsBE(message)
	message = append(message, make([]Boolean, 512-len(message))...)
	for i := range LabelParents {
		message = append(message, parents[i%len(parents)]...)
	}
	if len(message) != cap(message) {
		panic(fmt.Sprintf("label of %d bits, not %d", len(message), cap(message)))
	}
	return packDigest(cs, SHA256(cs, message))
}

// AssignLabel writes the assignment of [Label] and returns the label. replicaID and parents are the
// words of 32 bytes each, as [ElementWords] has them. It does not allocate.
func AssignLabel(a *r1cs.Assigner, replicaID *[8]Word, layer uint32, node uint64, parents [][8]Word) fr.Element {
	var message [labelWords]Word
	copy(message[:8], replicaID[:])
	message[8] = ConstantWord(layer)
	message[9], message[10] = VariableWord(uint32(node>>32)), VariableWord(uint32(node)) //nolint:gosec // halves
	for i := range LabelParents {
		copy(message[16+8*i:], parents[i%len(parents)][:])
	}
	return assignDigest(a, AssignSHA256(a, message[:]))
}
