package sample

import (
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/poseidon"
)

// tree is a Merkle tree of which some or all leaves can be opened.
type tree interface {
	// node is the index-th node of a level; level 0 are the leaves.
	node(level int, index uint64) filecoin.Node
}

// root is the root of a tree with the given arities, lowest level first.
func root(t tree, arities []int) filecoin.Node { return t.node(len(arities), 0) }

// open is the path of a leaf.
func open(t tree, arities []int, leaf uint64) filecoin.MerklePath {
	p := filecoin.MerklePath{Leaf: t.node(0, leaf), Root: root(t, arities), Elements: make([]filecoin.PathElement, len(arities))}
	index := leaf
	for level, arity := range arities {
		position := index & uint64(arity-1)                                //nolint:gosec // arities are 2 to 8
		e := filecoin.PathElement{Index: uint32(position)}                 //nolint:gosec // below the arity
		e.Siblings = make([]filecoin.Node, 0, arity-1)                     // as many as decoded paths hold
		for i := index - position; i < index-position+uint64(arity); i++ { //nolint:gosec // as above
			if i != index {
				e.Siblings = append(e.Siblings, t.node(level, i))
			}
		}
		p.Elements[level] = e
		index >>= bits.TrailingZeros(uint(arity))
	}
	return p
}

// binaryArities are the arities of tree D.
func binaryArities(levels int) []int {
	arities := make([]int, levels)
	for i := range arities {
		arities[i] = 2
	}
	return arities
}

// parent is the node above children in a tree of their number: Poseidon, as in trees C and R.
func parent(children ...filecoin.Node) filecoin.Node {
	var elements [poseidon.MaxWidth]fr.Element
	for i := range children {
		elements[i] = element(children[i])
	}
	digest := poseidon.For(len(children)).Hash(elements[:len(children)])
	return filecoin.NodeOf(&digest)
}

// parentD is the node above two of tree D.
func parentD(children ...filecoin.Node) filecoin.Node {
	return filecoin.HashD(&children[0], &children[1])
}

// element is a node as a field element. All nodes of a sample are below the modulus: they come from a source, from
// SHA-256 with its top bits cleared, or from field elements.
func element(n filecoin.Node) fr.Element {
	e, err := n.Element()
	if err != nil {
		panic("sample: made a node that is not a field element: " + err.Error())
	}
	return e
}
