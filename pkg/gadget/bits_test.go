package gadget_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/gadget"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

// TestReverseBitNumbering holds the bits that SHA-256 reads of a number against its bytes.
func TestReverseBitNumbering(t *testing.T) {
	var bits []gadget.Boolean
	sys := oneBlock(func(cs *r1cs.CS) {
		bits = gadget.ReverseBitNumbering(gadget.AreBits(gadget.NumToBits(cs, gadget.AllocNum(cs))))
	})
	if back := gadget.ReverseBitNumbering(bits); !slices.Equal(gadget.ReverseBitNumbering(back), bits) {
		t.Fatal("not its own inverse")
	}
	rapid.Check(t, func(t *rapid.T) {
		x := drawEdge(t, "number")
		_, aux := checkHolds(t, sys, func(a *r1cs.Assigner) {
			a.Element(&x)
			a.ElementBits(&x, 255)
		})
		bytes, words := littleEndian(&x), gadget.ElementWords(&x)
		if len(bits) != 256 {
			t.Fatalf("%d bits", len(bits))
		}
		for i, b := range bits {
			if valueOf(b, aux) != (bytes[i/8]>>(7-i%8)&1 == 1) {
				t.Fatalf("bit %d of %x is wrong", i, bytes)
			}
			_, constant := b.IsConstant()
			if variable := words[i/32].Vars>>(31-i%32)&1 == 1; variable == constant {
				t.Fatalf("bit %d: variable %v", i, variable)
			}
		}
		for i, w := range words {
			if w.Value != binary.BigEndian.Uint32(bytes[4*i:]) || w.Negated != 0 {
				t.Fatalf("word %d of %x is %08x", i, bytes, w.Value)
			}
		}
	})
}
