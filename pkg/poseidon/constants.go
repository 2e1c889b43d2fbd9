package poseidon

import (
	"fmt"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// MaxWidth is the width of the largest instance (arity 11).
const MaxWidth = 12

// Constants is one instance of the hash. It is read-only after it was built and may be shared by any number of goroutines.
type Constants struct {
	Arity, Width              int
	FullRounds, PartialRounds int
	// DomainTag is the first element of the initial state.
	DomainTag fr.Element
	// RoundConstants are the compressed constants in the order of use: Width in front of the first S-boxes, Width behind the S-boxes of
	// each full round but the last, one behind the S-box of each partial round.
	RoundConstants []fr.Element
	// MDS and PreSparse are dense Width x Width matrices by rows; a state e becomes e' with e'[j] = sum of e[i]*M[i][j].
	// PreSparse takes the place of MDS in the last full round before the partial rounds.
	MDS, PreSparse [][]fr.Element
	// Sparse are the matrices of the partial rounds in the order of use.
	Sparse []SparseMatrix

	roundKeys    []fr.Element // uncompressed, Width a round
	blocks       []partialBlock
	preSparseT   matrix     // transposed, so that an element of the new state is the product of two contiguous rows
	firstTagSBox fr.Element // the domain tag behind the first round's S-box: a constant
}

// partialRounds are the numbers of partial rounds for 128 bits of security with eight full rounds and the margin of the paper
// (two full rounds more, 7.5 % more partial rounds).
var partialRounds = map[int]int{2: 55, 4: 56, 8: 57, 11: 57}

const fullRounds = 8

var (
	merkleTree = map[int]func() *Constants{2: merkle(2), 4: merkle(4), 8: merkle(8), 11: merkle(11)}

	genRandomness = sync.OnceValue(func() *Constants {
		var tag fr.Element
		tag.SetUint64(1 << 40)
		return build(2, tag)
	})
)

// For returns the instance of the hash type "Merkle tree" (domain tag 2^arity - 1) for arity 2, 4, 8 or 11. It is built at the first
// call, which takes a few milliseconds. Any other arity is a programming error and panics.
func For(arity int) *Constants {
	c, ok := merkleTree[arity]
	if !ok {
		panic(fmt.Sprintf("poseidon: no instance of arity %d", arity))
	}
	return c()
}

// GenRandomness returns the instance of arity 2 and custom hash type 1 (domain tag 2^40) from which an empty sector update draws its
// randomness: phi, the challenges and the rhos.
func GenRandomness() *Constants { return genRandomness() }

func merkle(arity int) func() *Constants {
	return sync.OnceValue(func() *Constants {
		var tag fr.Element
		tag.SetUint64(1<<uint(arity) - 1)
		return build(arity, tag)
	})
}

// TagSBox is the output of the domain tag's S-box in the first round, with the round constant behind it: the first element of the state
// whatever the preimage.
func (c *Constants) TagSBox() fr.Element { return c.firstTagSBox }

func build(arity int, tag fr.Element) *Constants {
	width, partial := arity+1, partialRounds[arity]
	mds := cauchy(width)
	keys := grainConstants(width, fullRounds, partial)
	preSparse, sparse := factorSparse(mds, partial)
	c := &Constants{
		Arity: arity, Width: width,
		FullRounds: fullRounds, PartialRounds: partial,
		DomainTag:      tag,
		RoundConstants: compressConstants(keys, mds, fullRounds, partial),
		MDS:            mds,
		PreSparse:      preSparse,
		Sparse:         sparse,
		roundKeys:      keys,
		blocks:         partialBlocks(sparse),
		preSparseT:     preSparse.transpose(),
	}
	c.firstTagSBox.Add(&tag, &c.RoundConstants[0])
	quintic(&c.firstTagSBox, &c.RoundConstants[width], nil)
	return c
}
