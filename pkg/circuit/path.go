package circuit

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/gadget"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

// assignLeafPath assigns the leaf of a path in a Poseidon tree as a variable, and then the path by
// [assignPath].
func assignLeafPath(a *r1cs.Assigner, path *filecoin.MerklePath, arities []int) (fr.Element, error) {
	leaf, err := path.Leaf.Element()
	if err != nil {
		return fr.Element{}, fmt.Errorf("leaf: %w", err)
	}
	a.Element(&leaf)
	return assignPath(a, &leaf, path.Elements, arities)
}

// assignPath assigns the levels of a path in a Poseidon tree whose levels have the given arities and
// returns the root that they lead to. A path of another shape is an error.
func assignPath(a *r1cs.Assigner, leaf *fr.Element, levels []filecoin.PathElement, arities []int) (fr.Element, error) {
	node := *leaf
	if err := checkPathShape(levels, arities); err != nil {
		return node, err
	}
	var buf [gadget.MaxArity]fr.Element
	for i := range levels {
		level := &levels[i]
		siblings := buf[:len(level.Siblings)]
		for j := range siblings {
			var err error
			if siblings[j], err = level.Siblings[j].Element(); err != nil {
				return node, fmt.Errorf("level %d, sibling %d: %w", i, j, err)
			}
		}
		node = gadget.AssignMerkleStep(a, &node, uint64(level.Index), siblings)
	}
	return node, nil
}

// checkPathShape checks the number of levels of a path and of the siblings of each.
func checkPathShape(levels []filecoin.PathElement, arities []int) error {
	if len(levels) != len(arities) {
		return fmt.Errorf("path has %d levels, the tree %d", len(levels), len(arities))
	}
	for i := range levels {
		level := &levels[i]
		if len(level.Siblings) != arities[i]-1 || int64(level.Index) >= int64(arities[i]) {
			return fmt.Errorf("level %d of the path has %d siblings and position %d, the tree's arity is %d", i, len(level.Siblings), level.Index, arities[i])
		}
	}
	return nil
}
