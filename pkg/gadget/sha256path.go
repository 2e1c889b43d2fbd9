package gadget

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// SHA256Nodes makes the parent of two nodes of a SHA-256 tree (tree D): the digest of their
// little-endian bytes, with the two top bits cleared, as a number. Its assignment is
// [AssignSHA256Nodes].
func SHA256Nodes(cs *r1cs.CS, left, right Num) Num {
	message := ReverseBitNumbering(AreBits(NumToBits(cs, left)))
	message = append(message, ReverseBitNumbering(AreBits(NumToBits(cs, right)))...)
	return packDigest(cs, SHA256(cs, message))
}

// AssignSHA256Nodes writes the assignment of [SHA256Nodes] and returns the parent. It does not
// allocate.
func AssignSHA256Nodes(a *r1cs.Assigner, left, right *fr.Element) fr.Element {
	a.ElementBits(left, fr.Bits)
	a.ElementBits(right, fr.Bits)
	var message [16]Word
	l, r := ElementWords(left), ElementWords(right)
	copy(message[:8], l[:])
	copy(message[8:], r[:])
	return assignDigest(a, AssignSHA256(a, message[:]))
}

// SHA256Step walks from node one level up in a SHA-256 tree: it makes the bit that says whether node
// is the right child, its sibling, and their parent. Its assignment is [AssignSHA256Step].
func SHA256Step(cs *r1cs.CS, node Num) (parent Num, index Bit) {
	index = AllocBit(cs)
	sibling := AllocNum(cs)
	return SHA256StepGivenIndex(cs, node, index, sibling), index
}

// AssignSHA256Step writes the assignment of [SHA256Step] and returns the parent. It does not
// allocate.
func AssignSHA256Step(a *r1cs.Assigner, node *fr.Element, isRight bool, sibling *fr.Element) fr.Element {
	a.Bit(isRight)
	a.Element(sibling)
	return AssignSHA256StepGivenIndex(a, node, isRight, sibling)
}

// SHA256StepGivenIndex is [SHA256Step] where the bit and the sibling are variables made earlier. Its
// assignment is [AssignSHA256StepGivenIndex].
func SHA256StepGivenIndex(cs *r1cs.CS, node Num, index Bit, sibling Num) Num {
	children := insert(cs, node, []Bit{index}, []Num{sibling})
	return SHA256Nodes(cs, children[0], children[1])
}

// AssignSHA256StepGivenIndex writes the assignment of [SHA256StepGivenIndex] and returns the parent.
// It does not allocate.
func AssignSHA256StepGivenIndex(a *r1cs.Assigner, node *fr.Element, isRight bool, sibling *fr.Element) fr.Element {
	left, right := node, sibling
	if isRight {
		left, right = sibling, node
	}
	a.Element(left)
	a.Element(right)
	return AssignSHA256Nodes(a, left, right)
}

// EnforceSHA256Inclusion constrains leaf to lie in the SHA-256 tree of the given depth and root, and
// makes the challenge, packed, a public input. The assignment is that of each level, lowest first,
// by [AssignSHA256Step], and one [r1cs.Assigner.Input]: the challenge.
func EnforceSHA256Inclusion(cs *r1cs.CS, leaf, root Num, depth int) {
	challenge := make([]Bit, depth)
	before := cs.Size()
	for i := range challenge {
		leaf, challenge[i] = SHA256Step(cs, leaf)
		if i == 0 {
			cs.Reserve(cs.Size().Less(before).Times(depth - 1))
		}
	}
	PackIntoInputs(cs, AreBits(challenge))
	EnforceEqual(cs, leaf, root)
}

// EnforceSHA256InclusionAt constrains leaf to lie in the SHA-256 tree with the given root at the
// position that the bits of challenge, least significant first, spell. siblings are the other nodes
// of each level, lowest first. No variable of them is made here; the assignment is that of each
// level by [AssignSHA256StepGivenIndex].
func EnforceSHA256InclusionAt(cs *r1cs.CS, leaf, root Num, challenge []Bit, siblings []Num) {
	if len(challenge) != len(siblings) {
		panic("a challenge has not one bit for each level of its path")
	}
	for i := range siblings {
		leaf = SHA256StepGivenIndex(cs, leaf, challenge[i], siblings[i])
	}
	EnforceEqual(cs, leaf, root)
}
