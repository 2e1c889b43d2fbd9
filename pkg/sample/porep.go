package sample

import (
	"context"
	"errors"
	"fmt"

	"github.com/proofmill/proofmill/pkg/filecoin"
)

// MaxSealed is the size of the largest sector that is labelled as a whole, which takes seconds.
const MaxSealed = filecoin.Size16MiB

// ErrNotPossible is wrapped by the error for a sample that nobody can make without sealing a large sector.
var ErrNotPossible = errors.New("not possible without sealing")

// PoRep makes a sample of a proof of replication: the output of C1, all partitions. It takes about 30,000 Poseidon
// hashes for an interactive proof at 32 GiB. Synthetic and non-interactive proofs of sectors above [MaxSealed] are an
// [ErrNotPossible]; other errors are those of an unknown proof and of a context that ends.
func PoRep(ctx context.Context, proof filecoin.RegisteredSealProof, o Options) (*Sample, error) {
	if !proof.Valid() {
		return nil, fmt.Errorf("sample: registered seal proof %d is unknown", uint64(proof))
	}
	size := proof.Size()
	whole := proof.Variant() == filecoin.SealSynthetic || proof.Variant() == filecoin.SealNonInteractive
	if whole && size > MaxSealed {
		return nil, fmt.Errorf("sample of %s: %w: its challenges depend on comm_r, which commits to the labels of the challenged nodes: "+
			"only interactive proofs (V1, V1_1) have samples above %s", proof, ErrNotPossible, MaxSealed)
	}
	o = o.withDefaults()
	src := newSource(o.Seed, proof.String(), o.Sector)
	r := &replica{source: src, arities: size.Shape().Arities(size), aritiesD: binaryArities(size.Levels())}
	r.data = newRegularTree(r.aritiesD, size.UpdateH(), func(region, low uint64) filecoin.Node {
		return src.node(useData, 0, region<<regularBits|low)
	}, parentD)
	r.st = &filecoin.SealStatement{
		Proof: proof, Miner: o.Miner, Sector: o.Sector, CommD: root(r.data, r.aritiesD),
		Ticket: src.node(useTicket, 0, 0), Seed: src.node(useSeed, 0, 0),
	}
	if whole {
		r.labels = newLabels(r.st, src, allNodes(size))
	} else {
		r.labels = newLabels(r.st, src, challenged(r.st)) // interactive challenges do not depend on comm_r, which is not set yet
	}
	if err := r.label(ctx, o.Workers); err != nil {
		return nil, fmt.Errorf("sample of %s: %w", proof, err)
	}
	commit := &filecoin.SealCommit{
		Proof: proof, CommR: r.st.CommR, CommD: r.st.CommD, ReplicaID: r.st.ReplicaID(), Seed: r.st.Seed, Ticket: r.st.Ticket,
		Partitions: make([][]filecoin.PoRepChallenge, r.st.Partitions()),
	}
	for k := range commit.Partitions {
		challenges := r.st.Challenges(k)
		commit.Partitions[k] = make([]filecoin.PoRepChallenge, len(challenges))
		err := each(ctx, o.Workers, len(challenges), func(i int) { commit.Partitions[k][i] = r.challenge(challenges[i]) })
		if err != nil {
			return nil, fmt.Errorf("sample of %s: %w", proof, err)
		}
	}
	return &Sample{Kind: filecoin.PoRep, Size: size, Seal: r.st, Commit: commit}, nil
}

func allNodes(size filecoin.SectorSize) []uint64 {
	nodes := make([]uint64, size.Nodes())
	for i := range nodes {
		nodes[i] = uint64(i)
	}
	return nodes
}

func challenged(st *filecoin.SealStatement) []uint64 {
	var nodes []uint64
	for k := range st.Partitions() {
		nodes = append(nodes, st.Challenges(k)...)
	}
	return nodes
}

// replica is a sector with its data, its labels and its trees.
type replica struct {
	source            source
	st                *filecoin.SealStatement
	arities, aritiesD []int
	data              *regularTree
	labels            *labels
	treeC, treeR      *sparseTree
}

// label makes the labels, both trees over them, and comm_r.
func (r *replica) label(ctx context.Context, workers int) error {
	if err := r.labels.make(ctx); err != nil {
		return err
	}
	opened := r.labels.opened()
	hashes := make([]filecoin.Node, len(opened))
	if err := each(ctx, workers, len(opened), func(i int) { hashes[i] = parent(r.labels.column(opened[i])...) }); err != nil {
		return err
	}
	columns := make(map[uint64]filecoin.Node, len(opened))
	for i, node := range opened {
		columns[node] = hashes[i]
	}
	encoded := make(map[uint64]filecoin.Node, len(r.labels.nodes))
	for _, node := range r.labels.nodes {
		encoded[node] = r.encode(node)
	}
	var err error
	if r.treeC, err = newSparseTree(ctx, r.arities, r.source, useTreeC, columns, workers); err != nil {
		return err
	}
	if r.treeR, err = newSparseTree(ctx, r.arities, r.source, useTreeR, encoded, workers); err != nil {
		return err
	}
	r.st.CommR = parent(root(r.treeC, r.arities), root(r.treeR, r.arities))
	return nil
}

// encode is the replica at a node: its label in the last layer plus its data.
func (r *replica) encode(node uint64) filecoin.Node {
	key, data := element(r.labels.at(r.labels.layers-1, node)), element(r.data.node(0, node))
	key.Add(&key, &data)
	return filecoin.NodeOf(&key)
}

// challenge is the vanilla proof of a challenged node.
func (r *replica) challenge(node uint64) filecoin.PoRepChallenge {
	c := filecoin.PoRepChallenge{
		Challenge: node, CommD: open(r.data, r.aritiesD, node), CommRLast: open(r.treeR, r.arities, node),
		CX: r.column(node), Labeling: make([]filecoin.LabelProof, r.labels.layers),
	}
	for _, p := range r.labels.graph.DRGParents(node) {
		c.DRGParents = append(c.DRGParents, r.column(uint64(p)))
	}
	for _, p := range r.labels.graph.ExpParents(node) {
		c.ExpParents = append(c.ExpParents, r.column(uint64(p)))
	}
	for layer := range c.Labeling {
		c.Labeling[layer] = r.labels.proof(layer, node)
	}
	c.Encoding = r.labels.proof(r.labels.layers-1, node)
	return c
}

func (r *replica) column(node uint64) filecoin.ColumnProof {
	return filecoin.ColumnProof{Index: uint32(node), Rows: r.labels.column(node), Path: open(r.treeC, r.arities, node)} //nolint:gosec // a sector has at most 2^31 nodes
}
