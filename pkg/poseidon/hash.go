package poseidon

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// Hash returns the digest of preimage, which has exactly Arity elements (anything else panics) and is not changed.
// It allocates nothing and is safe for concurrent use.
func (c *Constants) Hash(preimage []fr.Element) fr.Element {
	c.check(preimage)
	return c.evaluate(preimage, nil)
}

// NumVariables is the number of variables in the circuit of one hash, and of the constraints too: three per S-box of the first round, whose
// inputs are known linear combinations and whose first S-box is a constant, four per S-box of the other rounds, and the digest.
func (c *Constants) NumVariables() int {
	return 3*c.Arity + 4*(c.Width*(c.FullRounds-1)+c.PartialRounds) + 1
}

// States writes the variables of the circuit of one hash into dst, which has NumVariables elements, in the order of allocation: per S-box
// its input x (not in the first round), x^2, x^4 and x^5 plus the round constant; last the digest. preimage has Arity elements; it must
// not overlap dst. Other lengths panic. It allocates nothing and is safe for concurrent use.
func (c *Constants) States(dst, preimage []fr.Element) {
	c.check(preimage)
	if len(dst) != c.NumVariables() {
		panic(fmt.Sprintf("poseidon: %d variables for a hash of arity %d that has %d", len(dst), c.Arity, c.NumVariables()))
	}
	c.evaluate(preimage, dst)
}

func (c *Constants) check(preimage []fr.Element) {
	if len(preimage) != c.Arity {
		panic(fmt.Sprintf("poseidon: preimage of %d elements for a hash of arity %d", len(preimage), c.Arity))
	}
}

// evaluate runs the optimised permutation; trace is nil or has room for the variables of States.
func (c *Constants) evaluate(preimage, trace []fr.Element) fr.Element {
	var a, b [MaxWidth]fr.Element
	state, next := a[:c.Width], b[:c.Width]
	keys := c.RoundConstants
	half := c.FullRounds / 2

	state[0] = c.firstTagSBox
	for i := range preimage {
		state[i+1].Add(&preimage[i], &keys[i+1])
		trace = quinticFirst(&state[i+1], &keys[c.Width+i+1], trace)
	}
	keys = keys[2*c.Width:]
	dense(next, state, c.MDS)
	state, next = next, state

	for round := 1; round < half; round++ {
		for i := range state {
			trace = quintic(&state[i], &keys[i], trace)
		}
		keys = keys[c.Width:]
		if round < half-1 {
			dense(next, state, c.MDS)
		} else {
			dense(next, state, c.preSparseT)
		}
		state, next = next, state
	}
	for i := range c.blocks {
		trace = c.blocks[i].evaluate(state, keys, trace)
		keys = keys[len(c.blocks[i].next):]
	}
	for range half - 1 {
		for i := range state {
			trace = quintic(&state[i], &keys[i], trace)
		}
		keys = keys[c.Width:]
		dense(next, state, c.MDS)
		state, next = next, state
	}
	var zero fr.Element
	for i := range state {
		trace = quintic(&state[i], &zero, trace)
	}
	digest := dot(state, c.MDS[1])
	if trace != nil {
		trace[0] = digest
	}
	return digest
}

// quintic replaces x by x^5 + key. Where trace is not nil it writes x, x^2, x^4 and the result there, and returns the rest of trace.
func quintic(x, key *fr.Element, trace []fr.Element) []fr.Element {
	if trace == nil {
		quinticFirst(x, key, nil)
		return nil
	}
	trace[0] = *x
	return quinticFirst(x, key, trace[1:])
}

// quinticFirst is quintic for the first round, where the input is no variable.
func quinticFirst(x, key *fr.Element, trace []fr.Element) []fr.Element {
	var x2, x4 fr.Element
	x2.Square(x)
	x4.Square(&x2)
	x.Mul(x, &x4)
	x.Add(x, key)
	if trace == nil {
		return nil
	}
	trace[0], trace[1], trace[2] = x2, x4, *x
	return trace[3:]
}

// dense sets next[j] to the product of state and row j. MDS is symmetric, so its rows are its columns.
func dense(next, state []fr.Element, rows [][]fr.Element) {
	for j := range next {
		next[j] = dot(state, rows[j])
	}
}
