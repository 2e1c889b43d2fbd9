package gpu

import (
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/gadget"
	"github.com/proofmill/proofmill/pkg/poseidon"
)

// hashID names an instance of the hash as segments do.
type hashID struct{ arity, tag uint8 }

func (h hashID) constants() *poseidon.Constants {
	if h.tag == gadget.TagGenRandomness {
		return poseidon.GenRandomness()
	}
	return poseidon.For(int(h.arity))
}

// flatten writes an instance's constants in the order in which the library reads them.
func flatten(c *poseidon.Constants) []fr.Element {
	out := append([]fr.Element{c.TagSBox()}, c.RoundConstants...)
	out = append(out, slices.Concat(c.MDS...)...)
	out = append(out, slices.Concat(c.PreSparse...)...)
	for _, m := range c.Sparse {
		out = append(append(out, m.WHat...), m.VRest...)
	}
	return out
}
