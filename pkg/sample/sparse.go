package sample

import (
	"context"
	"maps"
	"slices"

	"github.com/proofmill/proofmill/pkg/filecoin"
)

// sparseTree is a Poseidon tree some of whose leaves are given and can be opened. Every subtree without a given leaf is a
// pseudo-random node. Once made it is only read.
type sparseTree struct {
	source  source
	use     use
	touched []map[uint64]filecoin.Node // by level: the nodes above given leaves, and these
}

// newSparseTree hashes the tree up from its given leaves, which it keeps, on up to workers goroutines.
func newSparseTree(ctx context.Context, arities []int, s source, u use, leaves map[uint64]filecoin.Node, workers int) (*sparseTree, error) {
	t := &sparseTree{source: s, use: u, touched: []map[uint64]filecoin.Node{leaves}}
	below := slices.Sorted(maps.Keys(leaves))
	for level, arity := range arities {
		indices := make([]uint64, 0, len(below))
		for _, index := range below {
			indices = append(indices, index/uint64(arity)) //nolint:gosec // arities are 2 to 8
		}
		indices = slices.Compact(indices)
		nodes := make([]filecoin.Node, len(indices))
		err := each(ctx, workers, len(indices), func(i int) {
			var children [8]filecoin.Node
			for k := range arity {
				children[k] = t.node(level, indices[i]*uint64(arity)+uint64(k))
			}
			nodes[i] = parent(children[:arity]...)
		})
		if err != nil {
			return nil, err
		}
		row := make(map[uint64]filecoin.Node, len(indices))
		for i, index := range indices {
			row[index] = nodes[i]
		}
		t.touched = append(t.touched, row)
		below = indices
	}
	return t, nil
}

func (t *sparseTree) node(level int, index uint64) filecoin.Node {
	if n, ok := t.touched[level][index]; ok {
		return n
	}
	return t.source.node(t.use, level, index)
}
