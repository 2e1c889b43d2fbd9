package filecoin

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/poseidon"
)

// CheckSealCommit compares what a C1 output says of itself with the statement: proof, commitments, ticket, seed, replica
// id, and the wrapper's sector number where there is one. A mismatch is a CheckError.
func CheckSealCommit(st *SealStatement, c *SealCommit) error {
	s := site{kind: PoRep, sector: st.Sector, partition: -1, challenge: -1}
	if err := st.Validate(); err != nil {
		return err
	}
	if c.Proof != st.Proof {
		return s.fail("C1 output is of %s, the statement of %s", c.Proof, st.Proof)
	}
	if w := c.Wrapper; w != nil && w.SectorNum != st.Sector {
		return s.fail("the C1 wrapper is of sector %d", w.SectorNum)
	}
	for _, v := range [...]struct {
		name      string
		got, want Node
	}{
		{nameCommR, c.CommR, st.CommR},
		{nameCommD, c.CommD, st.CommD},
		{nameTicket, c.Ticket, st.Ticket},
		{nameSeed, c.Seed, st.Seed},
		{"replica id", c.ReplicaID, st.ReplicaID()},
	} {
		if v.got != v.want {
			return s.fail("%s of the C1 output is %s, of the statement %s", v.name, v.got, v.want)
		}
	}
	return nil
}

// CheckPoRepPartition checks the vanilla proof of partition k: that its challenges are those of the statement, every path
// hashes to its root, the roots are comm_d, comm_c and comm_r_last with comm_r = H(comm_c, comm_r_last), every column
// hashes to its leaf, the labels of the challenged node are those of its parents, and the replica is label plus data. The
// first mismatch is a CheckError; the other errors are those of an impossible statement or an ended
// context.
//
// It takes about 3,000 Poseidon hashes for a partition of a 32 GiB sector. It may be called for several partitions at once.
func CheckPoRepPartition(ctx context.Context, st *SealStatement, k int, challenges []PoRepChallenge) error {
	if err := st.Validate(); err != nil {
		return err
	}
	if err := inRange(k, st.Partitions()); err != nil {
		return err
	}
	size := st.Proof.Size()
	s := site{kind: PoRep, sector: st.Sector, partition: k, challenge: -1}
	expected := st.Challenges(k)
	if len(challenges) != len(expected) {
		return s.fail("%d challenges where %d are needed", len(challenges), len(expected))
	}
	formR, formD := newTreePath(size.Shape(), size), newTreePath(BinaryTree, size)
	c := &porepChecker{st: st, graph: st.Proof.Graph(), replicaID: st.ReplicaID(),
		treeC: newPoseidonTree(size), treeR: newPoseidonTree(size),
		commC: &challenges[0].CX.Path.Root, commRLast: &challenges[0].CommRLast.Root}
	for i := range challenges {
		if err := proceed(ctx); err != nil {
			return err
		}
		if err := challenges[i].checkShape(size, &formR, &formD); err != nil {
			return s.at(i).fail("%v", err)
		}
		if err := c.challenge(s.at(i), &challenges[i], expected[i]); err != nil {
			return err
		}
		if i == 0 {
			if err := checkCommR(s, &st.CommR, c.commC, c.commRLast, nameCommR); err != nil {
				return err
			}
		}
	}
	return nil
}

type porepChecker struct {
	st               *SealStatement
	graph            *Graph
	replicaID        Node
	treeC, treeR     *poseidonTree
	commC, commRLast *Node // of the first challenge, which all others must share
}

func (c *porepChecker) challenge(s site, p *PoRepChallenge, node uint64) error {
	if p.Challenge != node {
		return s.fail("it opens node %d, the statement asks for node %d", p.Challenge, node)
	}
	if err := checkPathD(s, &p.CommD, node, "comm_d path", nil); err != nil {
		return err
	}
	if p.CommD.Root != c.st.CommD {
		return s.fail("comm_d path: root %s is not comm_d", p.CommD.Root)
	}
	if err := c.treeR.check(s, &p.CommRLast, node, "comm_r_last path"); err != nil {
		return err
	}
	if p.CommRLast.Root != *c.commRLast {
		return s.fail("comm_r_last path: root %s is not that of the first challenge", p.CommRLast.Root)
	}
	if err := c.column(s, &p.CX, node, "column of the challenged node"); err != nil {
		return err
	}
	drg, exp := c.graph.DRGParents(node), c.graph.ExpParents(node)
	for i := range p.DRGParents {
		if err := c.column(s, &p.DRGParents[i], uint64(drg[i]), fmt.Sprintf("column of DRG parent %d", i)); err != nil {
			return err
		}
	}
	for i := range p.ExpParents {
		if err := c.column(s, &p.ExpParents[i], uint64(exp[i]), fmt.Sprintf("column of expander parent %d", i)); err != nil {
			return err
		}
	}
	return c.labels(s, p, node)
}

// column checks that a column is of the node, hashes to its leaf, and that the leaf is in tree C.
func (c *porepChecker) column(s site, p *ColumnProof, node uint64, what string) error {
	if uint64(p.Index) != node {
		return s.fail("%s: index %d where the graph has node %d", what, p.Index, node)
	}
	var rows [maxLayers]fr.Element
	for i := range p.Rows {
		var err error
		if rows[i], err = p.Rows[i].Element(); err != nil {
			return s.fail("%s: row %d is not a field element", what, i)
		}
	}
	leaf := poseidon.For(len(p.Rows)).Hash(rows[:len(p.Rows)])
	if NodeOf(&leaf) != p.Path.Leaf {
		return s.fail("%s: its rows do not hash to its leaf", what)
	}
	if err := c.treeC.check(s, &p.Path, node, what+": path in tree C"); err != nil {
		return err
	}
	if p.Path.Root != *c.commC {
		return s.fail("%s: root %s is not comm_c of the first challenge", what, p.Path.Root)
	}
	return nil
}

// labels recomputes the challenged node's label of each layer from the opened columns, and the replica from the last.
func (c *porepChecker) labels(s site, p *PoRepChallenge, node uint64) error {
	last := len(p.CX.Rows) - 1
	for i := range p.CX.Rows {
		parents := labelParents(p, i)
		proof := &p.Labeling[i]
		if err := c.sameLabel(s, proof, &parents, i, node, fmt.Sprintf("label of layer %d", i+1)); err != nil {
			return err
		}
		if Label(c.replicaID, uint32(i+1), node, parents[:]) != p.CX.Rows[i] {
			return s.fail("label of layer %d: the column's row is not the hash of its parents", i+1)
		}
		if i == last {
			if err := c.sameLabel(s, &p.Encoding, &parents, i, node, "encoding"); err != nil {
				return err
			}
		}
	}
	key, err := s.element(&p.CX.Rows[last], "encoding key")
	if err != nil {
		return err
	}
	data, err := s.element(&p.CommD.Leaf, "data")
	if err != nil {
		return err
	}
	key.Add(&key, &data)
	if NodeOf(&key) != p.CommRLast.Leaf {
		return s.fail("encoding: the replica's leaf is not label plus data")
	}
	return nil
}

// sameLabel compares what the vanilla proof says of a label with the opened columns.
func (c *porepChecker) sameLabel(s site, p *LabelProof, parents *[LabelParents]Node, layer int, node uint64, what string) error {
	if uint64(p.Layer) != uint64(layer+1) || p.Node != node { //nolint:gosec // at most 11 layers
		return s.fail("%s: it is of layer %d and node %d", what, p.Layer, p.Node)
	}
	for i := range p.Parents {
		if p.Parents[i] != parents[i] {
			return s.fail("%s: parent %d is not in the parent's column", what, i)
		}
	}
	return nil
}

// labelParents are the parents that the label of a layer (0 is the first) hashes: the DRG parents' labels of the same
// layer, then, from the second layer on, the expander parents' labels of the layer before; repeated to LabelParents.
func labelParents(p *PoRepChallenge, layer int) [LabelParents]Node {
	var distinct [DRGDegree + ExpDegree]Node
	n := 0
	for i := range p.DRGParents {
		distinct[n] = p.DRGParents[i].Rows[layer]
		n++
	}
	if layer > 0 {
		for i := range p.ExpParents {
			distinct[n] = p.ExpParents[i].Rows[layer-1]
			n++
		}
	}
	var out [LabelParents]Node
	for i := range out {
		out[i] = distinct[i%n]
	}
	return out
}

// Label is the label of a node in a layer (1 is the first): SHA-256 of replica id, layer, node and parents, with the two
// top bits cleared. parents are at most LabelParents nodes, already repeated; node 0 has none.
func Label(replicaID Node, layer uint32, node uint64, parents []Node) Node {
	var in [64 + 32*LabelParents]byte
	copy(in[:], replicaID[:])
	binary.BigEndian.PutUint32(in[32:], layer)
	binary.BigEndian.PutUint64(in[36:], node)
	n := 64
	for i := range parents {
		n += copy(in[n:], parents[i][:])
	}
	label := Node(sha256.Sum256(in[:n]))
	label[31] &= topMask
	return label
}
