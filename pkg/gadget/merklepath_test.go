package gadget_test

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/gadget"
	"github.com/proofmill/proofmill/pkg/poseidon"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

// tree is a random path: siblings and position of each level.
type tree struct {
	leaf, root fr.Element
	siblings   [][]fr.Element
	index      []uint64
	challenge  uint64
}

// drawTree follows a random path by the slow hash.
func drawTree(t *rapid.T, arities []int) *tree {
	p := &tree{leaf: drawNum(t, "leaf")}
	node, shift := p.leaf, 0
	for _, arity := range arities {
		siblings := make([]fr.Element, arity-1)
		for i := range siblings {
			siblings[i] = drawNum(t, "sibling")
		}
		index := rapid.IntRange(0, arity-1).Draw(t, "position")
		p.siblings = append(p.siblings, siblings)
		p.index = append(p.index, uint64(index))
		p.challenge |= uint64(index) << shift
		shift += bits.TrailingZeros(uint(arity))
		children := slices.Insert(slices.Clone(siblings), index, node)
		node = poseidon.For(arity).HashReference(children)
	}
	p.root = node
	return p
}

// assignLevels assigns the levels and checks where they lead to.
func (p *tree) assignLevels(t *rapid.T, a *r1cs.Assigner) {
	node := p.leaf
	for i := range p.siblings {
		node = gadget.AssignMerkleStep(a, &node, p.index[i], p.siblings[i])
	}
	if node != p.root {
		t.Fatalf("path leads to %s, expected %s", node.String(), p.root.String())
	}
}

var treeShapes = [][]int{{2}, {4}, {8}, {8, 8}, {8, 2}, {8, 4, 2}}

func TestEnforceInclusion(t *testing.T) {
	for _, arities := range treeShapes {
		t.Run(fmt.Sprint(arities), func(t *testing.T) {
			sys := oneBlock(func(cs *r1cs.CS) {
				root := gadget.AllocNum(cs)
				gadget.EnforceInclusion(cs, gadget.AllocNum(cs), root, arities)
			})
			var inputs, aux []fr.Element
			rapid.Check(t, func(t *rapid.T) {
				p := drawTree(t, arities)
				inputs, aux = checkHolds(t, sys, func(a *r1cs.Assigner) {
					a.Element(&p.root)
					a.Element(&p.leaf)
					p.assignLevels(t, a)
					challenge := fr.NewElement(p.challenge)
					a.Input(&challenge)
				})
			})
			checkHeld(t, sys, inputs, aux, 0)
		})
	}
}

// TestEnforceInclusionAt has the siblings and the challenge's bits made before the path.
func TestEnforceInclusionAt(t *testing.T) {
	for _, arities := range treeShapes {
		t.Run(fmt.Sprint(arities), func(t *testing.T) {
			depth := 0
			for _, arity := range arities {
				depth += bits.TrailingZeros(uint(arity))
			}
			sys := oneBlock(func(cs *r1cs.CS) {
				root, leaf := gadget.AllocNum(cs), gadget.AllocNum(cs)
				var siblings [][]gadget.Num
				for _, arity := range arities {
					siblings = append(siblings, gadget.AllocNums(cs, arity-1))
				}
				challenge := gadget.AllocBits(cs, depth)
				gadget.EnforceInclusionAt(cs, leaf, root, challenge, siblings)
			})
			var inputs, aux []fr.Element
			rapid.Check(t, func(t *rapid.T) {
				p := drawTree(t, arities)
				inputs, aux = checkHolds(t, sys, func(a *r1cs.Assigner) {
					a.Element(&p.root)
					a.Element(&p.leaf)
					for _, level := range p.siblings {
						copy(a.NextElements(len(level)), level)
					}
					a.Bits(p.challenge, uint(depth))
					p.assignLevels(t, a)
				})
			})
			checkHeld(t, sys, inputs, aux, 0)
		})
	}
}

// TestSelect selects each element of lists of each length.
func TestSelect(t *testing.T) {
	for n := range 5 {
		length := 1 << n
		sys := oneBlock(func(cs *r1cs.CS) {
			from, index := gadget.AllocNums(cs, length), gadget.AllocBits(cs, n)
			gadget.EnforceEqual(cs, gadget.Select(cs, from, index), gadget.AllocNum(cs))
		})
		rapid.Check(t, func(t *rapid.T) {
			from := make([]fr.Element, length)
			for i := range from {
				from[i] = drawNum(t, "element")
			}
			index := rapid.IntRange(0, length-1).Draw(t, "index")
			want := from[index]
			checkHolds(t, sys, func(a *r1cs.Assigner) {
				copy(a.NextElements(length), from)
				a.Bits(uint64(index), uint(n))
				if got := gadget.AssignSelect(a, slices.Clone(from), uint64(index)); got != want {
					t.Fatalf("element %d of %d: %s, expected %s", index, length, got.String(), want.String())
				}
				a.Element(&want)
			})
		})
	}
}

func TestAssignMerkleStepDoesNotAllocate(t *testing.T) {
	for _, arity := range []int{2, 4, 8} {
		siblings := make([]fr.Element, arity-1)
		var leaf fr.Element
		words, elements := make([]uint64, 1), make([]fr.Element, arity)
		if n := testing.AllocsPerRun(10, func() {
			a := r1cs.NewAssigner(words, 3, elements, nil)
			leaf = gadget.AssignMerkleStep(&a, &leaf, 1, siblings)
		}); n != 0 {
			t.Errorf("arity %d: %v allocations", arity, n)
		}
	}
}
