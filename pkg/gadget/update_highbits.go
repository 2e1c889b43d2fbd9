package gadget

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// HighBits makes the number that the h highest bits of a challenge spell, where h is the one of hs
// that the set bit of selector stands at. bits has the challenge's bits, least significant first;
// selector has one bit for each of hs. That exactly one of them is set is not constrained: they are
// public.
//
// For every h it packs the bits (see [PackBits]) and makes the product with the selector's bit; the
// result is the sum of the products.
func HighBits(cs *r1cs.CS, bits, selector []Bit, hs []int) Num {
	booleans := AreBits(bits)
	sum := make(r1cs.LC, 0, len(hs))
	for i, h := range hs {
		high := PackBits(cs, booleans[len(bits)-h:])
		product := AllocNum(cs)
		cs.Enforce(high.LC(), r1cs.LCOf(selector[i].Var), product.LC())
		sum = sum.Add(product.Var)
	}
	selected := AllocNum(cs)
	cs.Enforce(sum, oneLC, selected.LC())
	return selected
}

// AssignHighBits writes what [HighBits] allocates for a challenge of nbits bits, where bit i of
// selector is that of hs[i], and returns the result.
func AssignHighBits(a *r1cs.Assigner, challenge uint64, nbits int, selector uint64, hs []int) fr.Element {
	var selected, zero fr.Element
	for i, h := range hs {
		high := fr.NewElement(challenge >> (nbits - h))
		a.Element(&high)
		if selector>>i&1 == 1 {
			a.Element(&high)
			selected.Add(&selected, &high)
		} else {
			a.Element(&zero)
		}
	}
	a.Element(&selected)
	return selected
}
