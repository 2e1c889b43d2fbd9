package circuit

import (
	"math/bits"
	"os"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/poseidon"
)

// regularBits is how many of the lowest bits of a leaf's index its value depends on.
const regularBits = 3

// regularTree is a tree of any size whose leaves depend only on the h highest and the regularBits
// lowest bits of their index, so that few of its nodes differ.
type regularTree struct {
	arities []int
	levels  int // bits of a leaf's index
	h       int
	leaf    func(region, low uint64) filecoin.Node
	parent  func(children []filecoin.Node) filecoin.Node
	nodes   map[[2]uint64]filecoin.Node
}

// node is the index-th node above 2^span leaves; level is the number of its levels.
func (t *regularTree) node(level, span int, index uint64) filecoin.Node {
	regionBits := t.levels - t.h
	key := [2]uint64{uint64(span), index}
	if span <= regionBits { // keep the region and what is left of the low bits
		region, low := index>>(regionBits-span), index&(1<<max(regularBits-span, 0)-1)
		if level == 0 {
			return t.leaf(region, low)
		}
		key[1] = region<<regularBits | low
	}
	if n, ok := t.nodes[key]; ok {
		return n
	}
	arity := t.arities[level-1]
	step := bits.TrailingZeros(uint(arity))
	children := make([]filecoin.Node, arity)
	for i := range children {
		children[i] = t.node(level-1, span-step, index<<step|uint64(i))
	}
	n := t.parent(children)
	t.nodes[key] = n
	return n
}

func (t *regularTree) root() filecoin.Node { return t.node(len(t.arities), t.levels, 0) }

func (t *regularTree) path(leaf uint64) filecoin.MerklePath {
	p := filecoin.MerklePath{Leaf: t.node(0, 0, leaf), Root: t.root()}
	span, index := 0, leaf
	for level, arity := range t.arities {
		step := bits.TrailingZeros(uint(arity))
		position := index & uint64(arity-1)
		e := filecoin.PathElement{Index: uint32(position)}
		for i := range uint64(arity) {
			if i != position {
				e.Siblings = append(e.Siblings, t.node(level, span, index&^uint64(arity-1)|i))
			}
		}
		p.Elements = append(p.Elements, e)
		span, index = span+step, index>>step
	}
	return p
}

func poseidonParent(children []filecoin.Node) filecoin.Node {
	elements := make([]fr.Element, len(children))
	for i := range children {
		elements[i] = mustElement(children[i])
	}
	digest := poseidon.For(len(children)).Hash(elements)
	return filecoin.NodeOf(&digest)
}

func mustElement(n filecoin.Node) fr.Element {
	e, err := n.Element()
	if err != nil {
		panic(err)
	}
	return e
}

// regularUpdate is an update of a sector of any size whose three trees are regular.
type regularUpdate struct {
	st               *filecoin.UpdateStatement
	commC            filecoin.Node
	rOld, dNew, rNew *regularTree
}

func newRegularUpdate(t testing.TB, size filecoin.SectorSize) *regularUpdate {
	t.Helper()
	number, err := filecoin.UpdateProofFor(size)
	if err != nil {
		t.Fatal(err)
	}
	u := &regularUpdate{st: &filecoin.UpdateStatement{Proof: number}}
	value := func(domain, region, low uint64) filecoin.Node {
		e := poseidon.For(2).Hash([]fr.Element{fr.NewElement(domain), fr.NewElement(region<<regularBits | low)})
		n := filecoin.NodeOf(&e)
		n[31] &= 0x3f // data has 254 bits a node
		return n
	}
	tree := func(arities []int, leaf func(region, low uint64) filecoin.Node, parent func(c []filecoin.Node) filecoin.Node) *regularTree {
		return &regularTree{arities: arities, levels: size.Levels(), h: size.UpdateH(), leaf: leaf, parent: parent, nodes: map[[2]uint64]filecoin.Node{}}
	}
	old := func(region, low uint64) filecoin.Node { return value(1, region, low) }
	data := func(region, low uint64) filecoin.Node { return value(2, region, low) }
	u.commC = value(3, 0, 0)
	u.rOld = tree(size.Shape().Arities(size), old, poseidonParent)
	u.dNew = tree(binaryPath(size.Levels()), data, func(c []filecoin.Node) filecoin.Node { return filecoin.HashD(&c[0], &c[1]) })
	u.st.CommROld = poseidonParent([]filecoin.Node{u.commC, u.rOld.root()})
	u.st.CommDNew = u.dNew.root()
	phi, err := u.st.Phi()
	if err != nil {
		t.Fatal(err)
	}
	u.rNew = tree(size.Shape().Arities(size), func(region, low uint64) filecoin.Node {
		rho := u.st.Rho(phi, region<<(size.Levels()-size.UpdateH()))
		o, d := mustElement(old(region, low)), mustElement(data(region, low))
		o.Add(&o, d.Mul(&d, &rho))
		return filecoin.NodeOf(&o)
	}, poseidonParent)
	u.st.CommRNew = poseidonParent([]filecoin.Node{u.commC, u.rNew.root()})
	return u
}

// proof is the vanilla proof of partition k.
func (u *regularUpdate) proof(t testing.TB, k int) *filecoin.UpdateProof {
	t.Helper()
	size := u.st.Proof.Size()
	s := newUpdateShape(size)
	challenges, err := u.st.Challenges(k)
	if err != nil {
		t.Fatal(err)
	}
	p := &filecoin.UpdateProof{CommC: u.commC}
	for i := range uint64(size.ApexLeaves()) {
		p.ApexLeaves = append(p.ApexLeaves, u.dNew.node(s.pathLevels, s.pathLevels, uint64(k)<<s.apexBits|i))
	}
	for _, c := range challenges {
		p.Challenges = append(p.Challenges, filecoin.UpdateChallenge{ROld: u.rOld.path(c), DNew: u.dNew.path(c), RNew: u.rNew.path(c)})
	}
	return p
}

// TestUpdateWitnessOfRegularSectors satisfies the circuits of sizes that have no sealed fixture:
// those with four partitions and with six different choices of h.
func TestUpdateWitnessOfRegularSectors(t *testing.T) {
	sizes := map[filecoin.SectorSize][]int{filecoin.Size16KiB: {1}, filecoin.Size8MiB: {2}}
	if os.Getenv("PROOFMILL_SLOW") != "" { // takes 3 GiB for the 81 million variables
		sizes[filecoin.Size32GiB] = []int{11}
	}
	for size, partitions := range sizes {
		t.Run(size.String(), func(t *testing.T) {
			skipLargeInShort(t, size)
			sys := build(t, filecoin.Update, size)
			u := newRegularUpdate(t, size)
			for _, k := range partitions {
				w, err := AssignUpdate(t.Context(), sys, u.st, k, u.proof(t, k), 0)
				if err != nil {
					t.Fatal(err)
				}
				aux, err := w.Aux(t.Context(), 0)
				if err != nil {
					t.Fatal(err)
				}
				if err := sys.Satisfied(t.Context(), w.Inputs, aux); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// BenchmarkUpdateWitnessOfProduction is what a worker does for a partition of a 32 GiB sector.
func BenchmarkUpdateWitnessOfProduction(b *testing.B) {
	sys := build(b, filecoin.Update, filecoin.Size32GiB)
	u := newRegularUpdate(b, filecoin.Size32GiB)
	proof := u.proof(b, 5)
	b.ReportAllocs()
	for b.Loop() {
		w, err := AssignUpdate(b.Context(), sys, u.st, 5, proof, 1)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(8*len(w.Words)+fr.Bytes*len(w.Elements)), "bytes/witness")
	}
}
