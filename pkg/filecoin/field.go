package filecoin

import (
	"crypto/sha256"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// topMask clears the two bits of a digest's last byte that do not fit a field element.
const topMask = 0x3f

// Element is the node as a field element; an error where it is not below the modulus.
func (n Node) Element() (fr.Element, error) {
	return fr.LittleEndian.Element((*[32]byte)(&n))
}

// NodeOf is the element in canonical little-endian bytes.
func NodeOf(e *fr.Element) Node {
	var n Node
	fr.LittleEndian.PutElement((*[32]byte)(&n), *e)
	return n
}

// HashD is the parent of two nodes of tree D: SHA-256 of both with the two top bits cleared.
func HashD(left, right *Node) Node {
	var both [64]byte
	copy(both[:32], left[:])
	copy(both[32:], right[:])
	n := Node(sha256.Sum256(both[:]))
	n[31] &= topMask
	return n
}
