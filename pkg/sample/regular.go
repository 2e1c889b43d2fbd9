package sample

import (
	"math/bits"

	"github.com/proofmill/proofmill/pkg/filecoin"
)

// regularBits is how many of the lowest bits of a leaf's index its value depends on.
const regularBits = 3

// regularTree is a tree whose leaves depend only on the highest bits of their index, the region, and on the regularBits
// lowest. So few of its nodes differ that all of them are kept, and any leaf can be opened. Once made it is only read.
type regularTree struct {
	spans      []int // of each level: the bits of the index of a leaf below one of its nodes
	regionSpan int   // bits of the index of a leaf in a region
	nodes      map[place]filecoin.Node
}

// place is where a node stands. In a regular tree, nodes that are alike have the same place.
type place struct {
	level int
	index uint64
}

// newRegularTree makes a tree of regions 1<<h. leaf gives the leaves of a region by the low bits of their index, parent
// the nodes above.
func newRegularTree(arities []int, h int, leaf func(region, low uint64) filecoin.Node, parent func(children ...filecoin.Node) filecoin.Node) *regularTree {
	t := &regularTree{spans: make([]int, 1, len(arities)+1), nodes: make(map[place]filecoin.Node)}
	for level, arity := range arities {
		t.spans = append(t.spans, t.spans[level]+bits.TrailingZeros(uint(arity)))
	}
	t.regionSpan = t.spans[len(arities)] - h
	var fill func(level int, index uint64) filecoin.Node
	fill = func(level int, index uint64) filecoin.Node {
		at := t.place(level, index)
		if n, ok := t.nodes[at]; ok {
			return n
		}
		var n filecoin.Node
		if level == 0 {
			n = leaf(at.index>>regularBits, at.index&(1<<regularBits-1))
		} else {
			children := make([]filecoin.Node, arities[level-1])
			for i := range children {
				children[i] = fill(level-1, index*uint64(len(children))+uint64(i))
			}
			n = parent(children...)
		}
		t.nodes[at] = n
		return n
	}
	fill(len(arities), 0)
	return t
}

// place is where the first node like this one stands: below the level of regions, its region and what is left of the low
// bits. Alike nodes have alike children, so filling the tree from its root meets all places.
func (t *regularTree) place(level int, index uint64) place {
	span := t.spans[level]
	if span > t.regionSpan {
		return place{level, index}
	}
	region, low := index>>(t.regionSpan-span), index&(1<<max(regularBits-span, 0)-1)
	return place{level, region<<regularBits | low}
}

func (t *regularTree) node(level int, index uint64) filecoin.Node {
	return t.nodes[t.place(level, index)]
}
