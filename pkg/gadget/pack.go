package gadget

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// Capacity is how many bits surely fit in a field element: one less than the modulus has.
const Capacity = fr.Bits - 1

// NumToBits makes the 255 bits of n, least significant first, without asking that they are the
// canonical ones: 0 * 0 = sum of 2^i bit_i - n. Their assignment is
// [r1cs.Assigner.ElementBits] of n's value.
func NumToBits(cs *r1cs.CS, n Num) []Bit {
	bits := AllocBits(cs, fr.Bits)
	cs.Enforce(nil, nil, weighted(AreBits(bits)).Sub(n.Var))
	return bits
}

// DecomposeNum is [NumToBits] as a sector update writes it, for a number of up to nbits bits:
// (sum of 2^i bit_i) * 1 = n.
func DecomposeNum(cs *r1cs.CS, n Num, nbits int) []Bit {
	bits := AllocBits(cs, nbits)
	cs.Enforce(weighted(AreBits(bits)), oneLC, n.LC())
	return bits
}

// PackBits makes the number whose bits, least significant first, are the first [Capacity] of bits:
// (sum of 2^i bit_i) * 1 = number. Its assignment is one [r1cs.Assigner.Element].
func PackBits(cs *r1cs.CS, bits []Boolean) Num {
	n := AllocNum(cs)
	cs.Enforce(weighted(bits[:min(len(bits), Capacity)]), oneLC, n.LC())
	return n
}

// PackIntoInputs makes a public input for every [Capacity] bits, as [PackBits] packs them. Their
// assignment is one [r1cs.Assigner.Input] each.
func PackIntoInputs(cs *r1cs.CS, bits []Boolean) []Num {
	var inputs []Num
	for len(bits) > 0 {
		n := min(len(bits), Capacity)
		in := AllocInputNum(cs)
		cs.Enforce(weighted(bits[:n]), oneLC, in.LC())
		inputs = append(inputs, in)
		bits = bits[n:]
	}
	return inputs
}

// weighted is the sum of 2^i bits[i].
func weighted(bits []Boolean) r1cs.LC {
	lc := make(r1cs.LC, 0, len(bits)+1)
	for i, b := range bits {
		lc = b.AddTo(lc, &powersOfTwo[i])
	}
	return lc
}
