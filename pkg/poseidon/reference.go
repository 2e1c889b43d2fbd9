package poseidon

import "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

// HashReference is the hash as the paper writes it: in each round the keys are added, the S-boxes applied (to the first element only in a
// partial round), and the state multiplied by the MDS matrix. It is slow and exists to check [Constants.Hash].
// It panics where preimage has not exactly Arity elements.
func (c *Constants) HashReference(preimage []fr.Element) fr.Element {
	c.check(preimage)
	state := append([]fr.Element{c.DomainTag}, preimage...)
	half := c.FullRounds / 2
	for round := range c.FullRounds + c.PartialRounds {
		for i := range state {
			state[i].Add(&state[i], &c.roundKeys[round*c.Width+i])
		}
		boxes := c.Width
		if round >= half && round < half+c.PartialRounds {
			boxes = 1
		}
		for i := range boxes {
			var x4 fr.Element
			x4.Square(&state[i])
			x4.Square(&x4)
			state[i].Mul(&state[i], &x4)
		}
		state = matrix(c.MDS).transpose().apply(state)
	}
	return state[1]
}
