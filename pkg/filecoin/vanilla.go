package filecoin

import "encoding/hex"

// Node is a tree node or a commitment: a field element in 32 little-endian bytes, or a SHA-256 digest whose two top
// bits are cleared.
type Node [32]byte

// String is the node in hex.
func (n Node) String() string { return hex.EncodeToString(n[:]) }

// PathElement is one level of a Merkle path: the arity-1 siblings in their order, and the position among them at which
// the walked node stands.
type PathElement struct {
	Siblings []Node
	Index    uint32
}

// MerklePath leads from Leaf to Root: base levels, then sub, then top.
type MerklePath struct {
	Leaf, Root Node
	Elements   []PathElement
}

// Challenge is the index of the leaf that the path's positions spell, lowest level first. Levels are taken as binary
// numbers of their arity, which must be a power of two.
func (p *MerklePath) Challenge() uint64 {
	var index, weight uint64 = 0, 1
	for i := range p.Elements {
		e := &p.Elements[i]
		index += uint64(e.Index) * weight
		weight *= uint64(len(e.Siblings) + 1)
	}
	return index
}

// ColumnProof opens one column of the replica's labels: its node's label in each layer, and the path of the column's
// hash (Path.Leaf) in tree C.
type ColumnProof struct {
	Index uint32
	Rows  []Node
	Path  MerklePath
}

// LabelProof is what C1 says of one label: the hashed parents of Node in layer Layer (1 is the first), repeated to
// LabelParents.
type LabelProof struct {
	Parents []Node
	Layer   uint32
	Node    uint64
}

// PoRepChallenge is the vanilla proof of one challenge of a PoRep. Labeling holds a proof for each layer, Encoding that
// of the last layer again.
type PoRepChallenge struct {
	Challenge              uint64
	CommD, CommRLast       MerklePath
	CX                     ColumnProof
	DRGParents, ExpParents []ColumnProof
	Labeling               []LabelProof
	Encoding               LabelProof
}

// SealCommit is the decoded output of C1: the vanilla proof of a PoRep with its statement. The sector's comm_c and
// comm_r_last are the roots of CX.Path and CommRLast of any challenge.
type SealCommit struct {
	Proof        RegisteredSealProof
	CommR, CommD Node
	ReplicaID    Node
	Seed, Ticket [32]byte
	Partitions   [][]PoRepChallenge
	Wrapper      *C1Wrapper // what Curio's wrapper says; nil where the output came bare
}

// PoStSectorProof is the vanilla proof of one sector of a PoSt: a path in tree R for each challenge.
type PoStSectorProof struct {
	SectorID                uint64
	CommR, CommC, CommRLast Node
	Paths                   []MerklePath
}

// UpdateChallenge is the vanilla proof of one challenge of a sector update: the challenged leaf in the old replica, the
// new data and the new replica.
type UpdateChallenge struct{ ROld, DNew, RNew MerklePath }

// UpdateProof is the vanilla proof of one partition of a sector update.
type UpdateProof struct {
	CommC      Node
	ApexLeaves []Node
	Challenges []UpdateChallenge
}
