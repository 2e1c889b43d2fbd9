package gadget_test

import (
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/gadget"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

func drawNum(t *rapid.T, label string) fr.Element {
	var e fr.Element
	e.SetBytes(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, label))
	return e
}

// TestNumToBits opens a number in both forms, and packs its low bits again.
func TestNumToBits(t *testing.T) {
	for name, open := range map[string]func(cs *r1cs.CS, n gadget.Num) []gadget.Bit{
		"as bellpepper": gadget.NumToBits,
		"as sector updates": func(cs *r1cs.CS, n gadget.Num) []gadget.Bit {
			return gadget.DecomposeNum(cs, n, fr.Bits)
		},
	} {
		t.Run(name, func(t *testing.T) {
			sys := oneBlock(func(cs *r1cs.CS) {
				bits := open(cs, gadget.AllocNum(cs))
				gadget.PackIntoInputs(cs, gadget.AreBits(bits))
			})
			rapid.Check(t, func(t *rapid.T) {
				n := drawNum(t, "number")
				var low, high big.Int
				n.BigInt(&low)
				high.Rsh(&low, gadget.Capacity)
				low.Sub(&low, new(big.Int).Lsh(&high, gadget.Capacity))
				checkHolds(t, sys, func(a *r1cs.Assigner) {
					var lowNum, highNum fr.Element
					lowNum.SetBigInt(&low)
					highNum.SetBigInt(&high)
					a.Element(&n)
					a.ElementBits(&n, fr.Bits)
					a.Input(&lowNum)
					a.Input(&highNum)
				})
			})
			n := fr.NewElement(12345)
			inputs, aux := checkHolds(t, sys, func(a *r1cs.Assigner) {
				var zero fr.Element
				a.Element(&n)
				a.ElementBits(&n, fr.Bits)
				a.Input(&n)
				a.Input(&zero)
			})
			checkHeld(t, sys, inputs, aux, 0)
		})
	}
}

// TestPackBits packs more bits than fit: those beyond the capacity are left out.
func TestPackBits(t *testing.T) {
	sys := oneBlock(func(cs *r1cs.CS) {
		gadget.PackBits(cs, gadget.AreBits(gadget.AllocBits(cs, gadget.Capacity+3)))
	})
	rapid.Check(t, func(t *rapid.T) {
		n := drawNum(t, "bits")
		var low, mask big.Int
		n.BigInt(&low)
		mask.Sub(mask.Lsh(big.NewInt(1), gadget.Capacity), big.NewInt(1))
		low.And(&low, &mask)
		var packed fr.Element
		packed.SetBigInt(&low)
		beyond := rapid.Uint64Range(0, 7).Draw(t, "beyond")
		checkHolds(t, sys, func(a *r1cs.Assigner) {
			a.ElementBits(&n, gadget.Capacity)
			a.Bits(beyond, 3)
			a.Element(&packed)
		})
	})
}

// TestSums holds the gadgets of sums, equality and inputs.
func TestSums(t *testing.T) {
	sys := oneBlock(func(cs *r1cs.CS) {
		x, y := gadget.AllocNum(cs), gadget.AllocNum(cs)
		gadget.EnforceEqual(cs, gadget.AddNum(cs, x, y), gadget.AddNum(cs, y, x))
		x.Inputize(cs)
		y.Inputize(cs)
	})
	assign := func(x, y fr.Element) func(a *r1cs.Assigner) {
		return func(a *r1cs.Assigner) {
			var sum fr.Element
			sum.Add(&x, &y)
			for _, e := range []*fr.Element{&x, &y, &sum, &sum} {
				a.Element(e)
			}
			a.Input(&x)
			a.Input(&y)
		}
	}
	rapid.Check(t, func(t *rapid.T) { checkHolds(t, sys, assign(drawNum(t, "x"), drawNum(t, "y"))) })
	inputs, aux := checkHolds(t, sys, assign(fr.NewElement(7), fr.NewElement(9)))
	checkHeld(t, sys, inputs, aux, 0)
}
