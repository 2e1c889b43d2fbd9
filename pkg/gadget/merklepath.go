package gadget

import (
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/poseidon"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

// MaxArity is the largest arity of a Merkle path's level.
const MaxArity = 8

// MerkleStep walks from node one level up in a Poseidon tree: it makes the bits of node's position
// among its siblings, least significant first, then the arity-1 siblings, and their parent. Its
// assignment is [AssignMerkleStep].
func MerkleStep(cs *r1cs.CS, node Num, arity int) (parent Num, index []Bit) {
	cs.Expanded(r1cs.OpMerkleStep, arity, TagMerkleTree, func() {
		index = AllocBits(cs, bits.TrailingZeros(uint(arity)))
		siblings := AllocNums(cs, arity-1)
		parent = hashRounds(cs, poseidon.For(arity), insert(cs, node, index, siblings))
	})
	return parent, index
}

// MerkleStepGivenIndex is [MerkleStep] where the position's bits and the siblings are variables made
// earlier. Its assignment is [AssignMerkleStep] too.
func MerkleStepGivenIndex(cs *r1cs.CS, node Num, index []Bit, siblings []Num) Num {
	var parent Num
	arity := len(siblings) + 1
	cs.Expanded(r1cs.OpMerkleStepGivenIndex, arity, TagMerkleTree, func() {
		parent = hashRounds(cs, poseidon.For(arity), insert(cs, node, index, siblings))
	})
	return parent
}

// AssignMerkleStep writes the assignment of one level and returns the parent of node. index is the
// position of node, below the arity; siblings are the other arity-1 (at most MaxArity-1) children in
// their order. It does not allocate.
func AssignMerkleStep(a *r1cs.Assigner, node *fr.Element, index uint64, siblings []fr.Element) fr.Element {
	arity := len(siblings) + 1
	a.Bits(index, uint(bits.TrailingZeros(uint(arity))))
	elements := a.NextElements(arity)
	elements[0] = *node
	copy(elements[1:], siblings)

	var children [MaxArity]fr.Element
	n := copy(children[:], siblings[:index])
	children[n] = *node
	copy(children[n+1:], siblings[index:])
	return poseidon.For(arity).Hash(children[:arity])
}

// MerklePath walks from leaf to the root through levels of the given arities, and returns the root
// and the bits of the leaf's position, least significant first: the challenge.
func MerklePath(cs *r1cs.CS, leaf Num, arities []int) (root Num, challenge []Bit) {
	for _, arity := range arities {
		var index []Bit
		leaf, index = MerkleStep(cs, leaf, arity)
		challenge = append(challenge, index...)
	}
	return leaf, challenge
}

// EnforceInclusion constrains leaf to lie in the tree with the given root, and makes the challenge,
// packed, a public input. The assignment is that of each level, lowest first, by [AssignMerkleStep],
// and one [r1cs.Assigner.Input]: the challenge.
func EnforceInclusion(cs *r1cs.CS, leaf, root Num, arities []int) {
	computed, challenge := MerklePath(cs, leaf, arities)
	PackIntoInputs(cs, AreBits(challenge))
	EnforceEqual(cs, computed, root)
}

// EnforceInclusionAt constrains leaf to lie in the tree with the given root at the position that the
// bits of challenge, least significant first, spell. siblings are the other children of each level,
// lowest first. No variable of them is made here; the assignment is that of each level by
// [AssignMerkleStep].
func EnforceInclusionAt(cs *r1cs.CS, leaf, root Num, challenge []Bit, siblings [][]Num) {
	for _, level := range siblings {
		n := bits.TrailingZeros(uint(len(level) + 1))
		leaf = MerkleStepGivenIndex(cs, leaf, challenge[:n], level)
		challenge = challenge[n:]
	}
	if len(challenge) != 0 {
		panic("a challenge has more bits than its path")
	}
	EnforceEqual(cs, leaf, root)
}

// expandMerkleStep computes the variables of one level; elements are the node and its siblings.
func expandMerkleStep(op r1cs.Op, dst []fr.Element, index uint64, elements []fr.Element) {
	arity := len(elements)
	if op == r1cs.OpMerkleStep {
		n := bits.TrailingZeros(uint(arity))
		for i := range n {
			setBool(&dst[i], index>>uint(i)&1 == 1)
		}
		copy(dst[n:], elements[1:])
		dst = dst[n+arity-1:]
	}
	var children [MaxArity]fr.Element
	p := insertionFor(arity)
	n := p.numVariables()
	p.expand(dst[:n], index, elements, children[:arity])
	poseidon.For(arity).States(dst[n:], children[:arity])
}
