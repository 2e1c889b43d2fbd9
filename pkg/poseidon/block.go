package poseidon

import "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

// blockRounds is how many partial rounds are evaluated together; with the elements of the widest
// state their S-box outputs are at most maxTerms.
const blockRounds = maxTerms - (MaxWidth - 1)

// partialBlock is up to blockRounds partial rounds in a form that leaves the elements 1, 2 ... of
// the state alone until the end: element j after round s is what it was before the block plus the
// sum of VRest[j-1]*y over the S-box outputs y so far. So the next element 0 is one scalar product of
// the elements before the block and the outputs, and the elements after the block one each of the
// outputs, instead of a reduced product for each element in each round.
type partialBlock struct {
	next    [][]fr.Element // by round i: weights of the Arity elements and the i+1 outputs in the next element 0
	updates [][]fr.Element // by element: weights of the outputs
}

func partialBlocks(sparse []SparseMatrix) []partialBlock {
	var blocks []partialBlock
	for len(sparse) > 0 {
		rounds := sparse[:min(blockRounds, len(sparse))]
		sparse = sparse[len(rounds):]
		b := partialBlock{updates: make([][]fr.Element, len(rounds[0].VRest))}
		for i := range rounds {
			rest := rounds[i].WHat[1:]
			row := append([]fr.Element(nil), rest...)
			for _, earlier := range rounds[:i] {
				row = append(row, dotReference(rest, earlier.VRest))
			}
			b.next = append(b.next, append(row, rounds[i].WHat[0]))
			for j := range b.updates {
				b.updates[j] = append(b.updates[j], rounds[i].VRest[j])
			}
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// evaluate runs the rounds of the block on state with their round constants; trace is as in
// [quintic].
func (b *partialBlock) evaluate(state, keys, trace []fr.Element) []fr.Element {
	arity := len(state) - 1
	var known [maxTerms]fr.Element // elements before the block, then the outputs
	copy(known[:], state[1:])
	for i, row := range b.next {
		trace = quintic(&state[0], &keys[i], trace)
		known[arity+i] = state[0]
		state[0] = dot(known[:arity+i+1], row)
	}
	outputs := known[arity : arity+len(b.next)]
	for j := range b.updates {
		sum := dot(outputs, b.updates[j])
		state[1+j].Add(&state[1+j], &sum)
	}
	return trace
}
