package circuit

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/gadget"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

// The blocks of a PoRep system.
const (
	porepCommitments = iota
	porepChallenges
)

// buildPoRep makes the system of one partition of the reference's StackedDrg circuit: the
// commitments with comm_r = H(comm_c, comm_r_last), and a block for each challenge. Public inputs
// are replica id, comm_d and comm_r, and for each challenge the challenged node's or the parent's
// index of every path, in the order of the paths, and of the labels before the last two.
func buildPoRep(size filecoin.SectorSize) *r1cs.System {
	b := r1cs.NewBuilder()
	p := &porepBuilder{
		layers:  size.Layers(),
		levelsD: size.Levels(),
		arities: size.Shape().Arities(size),
	}
	b.Block("commitments", 1, p.commitments)
	b.Block("challenge", size.PoRepChallenges(), p.challenge)
	return b.System()
}

type porepBuilder struct {
	layers  int
	levelsD int   // of tree D
	arities []int // of trees C and R

	replicaID               []gadget.Boolean // 256 bits
	commD, commC, commRLast gadget.Num
}

// commitments is assigned by [porepAssigner.commitments].
func (p *porepBuilder) commitments(cs *r1cs.CS) {
	replicaID := gadget.AllocNum(cs)
	replicaID.Inputize(cs)
	p.replicaID = gadget.ReverseBitNumbering(gadget.AreBits(gadget.NumToBits(cs, replicaID)))

	p.commD = gadget.AllocNum(cs)
	p.commD.Inputize(cs)
	commR := gadget.AllocNum(cs)
	commR.Inputize(cs)
	p.commRLast = gadget.AllocNum(cs)
	p.commC = gadget.AllocNum(cs)
	gadget.EnforceEqual(cs, commR, gadget.Hash(cs, gadget.TagMerkleTree, []gadget.Num{p.commC, p.commRLast}))
}

// challenge is assigned by [porepAssigner.challenge].
func (p *porepBuilder) challenge(cs *r1cs.CS) {
	data := gadget.AllocNum(cs)
	gadget.EnforceSHA256Inclusion(cs, data, p.commD, p.levelsD)
	before := cs.Size()

	columns := make([][]gadget.Num, filecoin.DRGDegree+filecoin.ExpDegree)
	for i := range columns {
		var hash gadget.Num
		columns[i], hash = gadget.Column(cs, p.layers)
		gadget.EnforceInclusion(cs, hash, p.commC, p.arities)
	}
	ofColumns := cs.Size().Less(before)

	node := gadget.AllocUInt64(cs)
	node.Inputize(cs)
	labels := make([]gadget.Num, p.layers)
	for layer := range labels {
		before := cs.Size()
		labels[layer] = p.label(cs, &node, columns, layer)
		if layer == 1 { // the other labels are nearly all of a production circuit; two paths follow
			cs.Reserve(cs.Size().Less(before).Times(p.layers - 2).Plus(ofColumns))
		}
	}
	replica := gadget.EncodeReplica(cs, labels[p.layers-1], data)
	gadget.EnforceInclusion(cs, replica, p.commRLast, p.arities)
	gadget.EnforceInclusion(cs, gadget.ColumnHash(cs, labels), p.commC, p.arities)
}

// label makes the challenged node's label in a layer (0 is the first) from its parents: the DRG
// parents in the same layer and, from the second on, the expander parents in the layer before.
func (p *porepBuilder) label(cs *r1cs.CS, node *gadget.UInt64, columns [][]gadget.Num, layer int) gadget.Num {
	parents := make([][]gadget.Boolean, 0, len(columns))
	for i, rows := range columns {
		row := layer
		if i >= filecoin.DRGDegree {
			row--
		}
		if row >= 0 {
			parents = append(parents, gadget.ReverseBitNumbering(gadget.AreBits(gadget.NumToBits(cs, rows[row]))))
		}
	}
	return gadget.Label(cs, p.replicaID, uint32(layer+1), node, parents) //nolint:gosec // at most 11
}

// maxLayers is the most layers of a replica.
const maxLayers = 11

// column is the elements of a column; only as many as there are layers are used.
type column [maxLayers]fr.Element
