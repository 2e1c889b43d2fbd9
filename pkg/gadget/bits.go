package gadget

import (
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// ReverseBitNumbering turns bits that are numbered from the least significant, as those of a field
// element are, into the order in which SHA-256 reads the bytes of the same value in little-endian:
// the most significant bit of each byte first. The last byte is filled up with zeros. It is its own
// inverse for whole bytes.
func ReverseBitNumbering(b []Boolean) []Boolean {
	out := make([]Boolean, (len(b)+7)/8*8)
	for i := range b {
		out[i^7] = b[i]
	}
	return out
}

// ElementWords are the words of ReverseBitNumbering(NumToBits(x)): the little-endian bytes of x as
// SHA-256 reads them. The highest of the 256 bits is a constant.
func ElementWords(x *fr.Element) [8]Word {
	var out [8]Word
	for i, v := range x.Bits() {
		out[2*i] = VariableWord(bits.ReverseBytes32(uint32(v))) //nolint:gosec // the lower half
		out[2*i+1] = VariableWord(bits.ReverseBytes32(uint32(v >> 32)))
	}
	out[7].Vars = ^uint32(1 << 7) // the top bit of the last byte, which the word holds lowest
	return out
}

// packDigest makes the number of the digest's first [Capacity] bits, taken as little-endian bytes: the
// digest as Filecoin's trees and labels have it, the two top bits cleared. Its assignment is
// assignDigest.
func packDigest(cs *r1cs.CS, digest []Boolean) Num { return PackBits(cs, ReverseBitNumbering(digest)) }

// assignDigest writes the assignment of packDigest and returns the value.
func assignDigest(a *r1cs.Assigner, digest [8]Word) fr.Element {
	x := digestElement(&digest)
	a.Element(&x)
	return x
}

// digestElement is the field element of a digest's words: its bytes in little-endian order with the
// two top bits cleared.
func digestElement(digest *[8]Word) fr.Element {
	var b [fr.Bytes]byte
	for i := range digest {
		v := digest[i].Value
		b[4*i], b[4*i+1], b[4*i+2], b[4*i+3] = byte(v>>24), byte(v>>16), byte(v>>8), byte(v) //nolint:gosec // the bytes of v
	}
	b[fr.Bytes-1] &= 0x3f
	x, err := fr.LittleEndian.Element(&b)
	if err != nil {
		panic(err) // below 2^254, which is below the modulus
	}
	return x
}
