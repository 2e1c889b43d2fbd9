package gadget

import "github.com/proofmill/proofmill/pkg/r1cs"

// UInt64 is a 64-bit number in a circuit, least significant bit first.
type UInt64 [64]Bit

// AllocUInt64 makes the bits of a number. Its assignment is [r1cs.Assigner.Bits] of all 64.
func AllocUInt64(cs *r1cs.CS) UInt64 {
	var u UInt64
	for i := range u {
		u[i] = AllocBit(cs)
	}
	return u
}

// AppendBitsBE appends the bits of u, most significant first.
func (u *UInt64) AppendBitsBE(dst []Boolean) []Boolean {
	for i := len(u) - 1; i >= 0; i-- {
		dst = append(dst, Is(u[i]))
	}
	return dst
}

// Inputize makes the number a public input. Its assignment is one [r1cs.Assigner.Input].
func (u *UInt64) Inputize(cs *r1cs.CS) { PackIntoInputs(cs, AreBits(u[:])) }
