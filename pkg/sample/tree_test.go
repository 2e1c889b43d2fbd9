package sample

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/filecoin"
)

// drawArities draws a small tree of a production shape.
func drawArities(t *rapid.T) []int {
	size := rapid.SampledFrom([]filecoin.SectorSize{filecoin.Size2KiB, filecoin.Size4KiB, filecoin.Size16KiB, filecoin.Size32KiB}).Draw(t, "size")
	if rapid.Bool().Draw(t, "tree D") {
		return binaryArities(size.Levels())
	}
	return size.Shape().Arities(size)
}

func leavesOf(arities []int) int {
	n := 1
	for _, arity := range arities {
		n *= arity
	}
	return n
}

// join is a cheap stand-in for a hash of children.
func join(children ...filecoin.Node) filecoin.Node {
	n := children[0]
	for i := 1; i < len(children); i++ {
		n = filecoin.HashD(&n, &children[i])
	}
	return n
}

// Each node of a regular tree is that of the tree hashed up from all of its leaves, which differ where they should.
func TestRegularTreeIsATree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arities := drawArities(t)
		levels := 0
		for n := leavesOf(arities); n > 1; n /= 2 {
			levels++
		}
		h := rapid.IntRange(0, levels-regularBits).Draw(t, "h")
		src := newSource(rapid.Uint64().Draw(t, "seed"), "", 0)
		leaf := func(region, low uint64) filecoin.Node { return src.node(useData, int(region), low) }
		tree := newRegularTree(arities, h, leaf, join)
		row := make([]filecoin.Node, leavesOf(arities))
		for i := range row {
			row[i] = leaf(uint64(i>>(levels-h)), uint64(i%(1<<regularBits)))
		}
		for level := 0; ; level++ {
			for i := range row {
				if tree.node(level, uint64(i)) != row[i] {
					t.Fatalf("level %d: node %d differs", level, i)
				}
			}
			if level == len(arities) {
				break
			}
			up := make([]filecoin.Node, len(row)/arities[level])
			for i := range up {
				up[i] = join(row[i*arities[level]:][:arities[level]]...)
			}
			row = up
		}
	})
}

// A sparse tree keeps its leaves, and is a tree wherever one of them is below.
func TestSparseTreeIsATree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]filecoin.SectorSize{filecoin.Size2KiB, filecoin.Size32KiB, filecoin.Size64GiB}).Draw(t, "size")
		arities := size.Shape().Arities(size)
		src := newSource(rapid.Uint64().Draw(t, "seed"), "", 0)
		leaves := map[uint64]filecoin.Node{}
		for _, leaf := range rapid.SliceOfN(rapid.Uint64Range(0, size.Nodes()-1), 1, 20).Draw(t, "leaves") {
			leaves[leaf] = src.node(useReplica, 0, leaf)
		}
		tree, err := newSparseTree(t.Context(), arities, src, useTreeR, leaves, rapid.IntRange(1, 3).Draw(t, "workers"))
		if err != nil {
			t.Fatal(err)
		}
		for leaf, node := range leaves {
			p := open(tree, arities, leaf)
			if p.Leaf != node || p.Challenge() != leaf {
				t.Fatalf("leaf %d opens leaf %d", leaf, p.Challenge())
			}
			for level := range p.Elements {
				e := &p.Elements[level]
				children := append([]filecoin.Node{}, e.Siblings[:e.Index]...)
				children = append(append(children, node), e.Siblings[e.Index:]...)
				node = parent(children...)
			}
			if node != p.Root || p.Root != root(tree, arities) {
				t.Fatalf("path of leaf %d does not lead to the root", leaf)
			}
		}
	})
}

// Labels that are computed are those of their parents, whichever others are computed.
func TestLabelsAreThoseOfTheirParents(t *testing.T) {
	p, err := filecoin.SealProofFor(filecoin.SealV1_1, filecoin.Size16KiB)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		st := &filecoin.SealStatement{Proof: p, Miner: 1000, Sector: rapid.Uint64().Draw(t, "sector")}
		nodes := rapid.SliceOfN(rapid.Uint64Range(0, p.Size().Nodes()-1), 1, 40).Draw(t, "nodes")
		l := newLabels(st, newSource(1, "", 0), nodes)
		if err := l.make(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, node := range nodes {
			for layer := range l.layers {
				var hashed []filecoin.Node
				for node > 0 && len(hashed) < filecoin.LabelParents {
					for _, p := range l.graph.DRGParents(node) {
						hashed = append(hashed, l.at(layer, uint64(p)))
					}
					for _, p := range l.graph.ExpParents(node) {
						if layer > 0 {
							hashed = append(hashed, l.at(layer-1, uint64(p)))
						}
					}
				}
				hashed = hashed[:min(len(hashed), filecoin.LabelParents)]
				if l.at(layer, node) != filecoin.Label(st.ReplicaID(), uint32(layer+1), node, hashed) {
					t.Fatalf("label of node %d in layer %d is not that of its parents", node, layer)
				}
			}
		}
	})
}
