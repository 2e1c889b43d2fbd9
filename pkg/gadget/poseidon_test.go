package gadget_test

import (
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/gadget"
	"github.com/proofmill/proofmill/pkg/poseidon"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

// TestHash expands a hash of each instance: the constraints hold, the last variable and the
// returned digest are the reference hash's, and no variable can be another.
func TestHash(t *testing.T) {
	for _, tc := range []struct {
		tag       uint8
		constants *poseidon.Constants
	}{
		{gadget.TagMerkleTree, poseidon.For(2)},
		{gadget.TagMerkleTree, poseidon.For(4)},
		{gadget.TagMerkleTree, poseidon.For(8)},
		{gadget.TagMerkleTree, poseidon.For(11)},
		{gadget.TagGenRandomness, poseidon.GenRandomness()},
	} {
		c := tc.constants
		t.Run(fmt.Sprintf("arity=%d,tag=%d", c.Arity, tc.tag), func(t *testing.T) {
			sys := oneBlock(func(cs *r1cs.CS) { gadget.Hash(cs, tc.tag, gadget.AllocNums(cs, c.Arity)) })
			if n := sys.NumConstraints - sys.NumInputs; n != c.NumVariables() {
				t.Errorf("%d constraints for %d variables", n, c.NumVariables())
			}
			var inputs, aux []fr.Element
			rapid.Check(t, func(t *rapid.T) {
				preimage := make([]fr.Element, c.Arity)
				for i := range preimage {
					preimage[i] = drawNum(t, "preimage")
				}
				want := c.HashReference(preimage)
				inputs, aux = checkHolds(t, sys, func(a *r1cs.Assigner) {
					copy(a.NextElements(c.Arity), preimage)
					if got := gadget.AssignHash(a, tc.tag, preimage); got != want {
						t.Fatalf("digest %s, expected %s", got.String(), want.String())
					}
				})
				if got := aux[len(aux)-1]; got != want {
					t.Fatalf("digest variable %s, expected %s", got.String(), want.String())
				}
			})
			checkHeld(t, sys, inputs, aux, c.Arity)
		})
	}
}
