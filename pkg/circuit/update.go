package circuit

import (
	"fmt"
	"math/bits"

	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/gadget"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

// updateShape is the numbers that a sector size fixes for the circuit of a sector update.
type updateShape struct {
	size          filecoin.SectorSize
	levels        int // of tree D, and bits of a challenge
	partitionBits int // the highest of them, which name the partition
	apexBits      int // the next ones, which name a leaf of the partition's apex tree
	pathLevels    int // the rest: levels of a tree D path up to its apex leaf
	arities       []int
	siblings      int // of a path in a replica's tree
	hs            []int
	random        gadget.ChallengeBits
}

func newUpdateShape(size filecoin.SectorSize) *updateShape {
	s := &updateShape{
		size:          size,
		levels:        size.Levels(),
		partitionBits: bits.TrailingZeros(uint(size.UpdatePartitions())),
		apexBits:      bits.TrailingZeros(uint(size.ApexLeaves())),
		arities:       size.Shape().Arities(size),
	}
	hs := size.UpdateHs()
	s.hs = hs[:]
	s.pathLevels = s.levels - s.partitionBits - s.apexBits
	for _, arity := range s.arities {
		s.siblings += arity - 1
	}
	s.random = gadget.ChallengeBits{Challenges: size.UpdateChallenges(), PerChallenge: s.levels - s.partitionBits}
	return s
}

// Blocks of the circuit of a sector update: the statement, a row of the apex tree each (the lowest
// is updateFirstApexRow), the partition, the challenges.
const (
	updateStatementBlock = 0
	updateFirstApexRow   = 1
)

func (s *updateShape) partitionBlock() int  { return updateFirstApexRow + s.apexBits }
func (s *updateShape) challengesBlock() int { return s.partitionBlock() + 1 }

// updateVars are the variables of the statement that later blocks use.
type updateVars struct {
	selector, partitionBits []gadget.Bit
	partition               gadget.Num
	commDNew, commRNew, phi gadget.Num
	rootROld, rootRNew      gadget.Num
	apexLeaves              []gadget.Num
	partitionPath           []gadget.Num
}

// buildUpdate makes the circuit of one partition of a sector update.
//
// Public inputs: the partition's number with the selector of h above it, comm_r_old, comm_d_new,
// comm_r_new. Every challenge has the same constraints over its own variables and bits that lie in
// the digests of an earlier block, so that all of them are one repeated block. So is each row of the
// apex tree, whose hashes read pairs of the row below.
func buildUpdate(size filecoin.SectorSize) *r1cs.System {
	s := newUpdateShape(size)
	b := r1cs.NewBuilder()
	var v *updateVars
	b.Block("statement", 1, func(cs *r1cs.CS) { v = s.buildStatement(cs) })
	row := v.apexLeaves
	for i := range s.apexBits {
		row = buildApexRow(b, fmt.Sprintf("apex row %d", i), row)
	}
	var challenges [][]gadget.Bit
	// The counter of each challenge digest has a coefficient of its own (the first has a term less), so
	// the digests are no repeated block; they are few.
	b.Block("partition", 1, func(cs *r1cs.CS) {
		gadget.EnforceSHA256InclusionAt(cs, row[0], v.commDNew, v.partitionBits, v.partitionPath)
		challenges = s.random.Make(cs, v.commRNew, v.partition)
	})
	b.Block("challenges", len(challenges), func(cs *r1cs.CS) { s.buildChallenge(cs, v, challenges) })
	return b.System()
}

// buildStatement makes the public inputs, the commitments' openings and the nodes of tree D that all
// challenges share. Its assignment is updateAssigner.statement.
func (s *updateShape) buildStatement(cs *r1cs.CS) *updateVars {
	v := &updateVars{}
	packed := gadget.AllocNum(cs)
	packed.Inputize(cs)
	bits := gadget.DecomposeNum(cs, packed, s.partitionBits+len(s.hs))
	v.partitionBits, v.selector = bits[:s.partitionBits], bits[s.partitionBits:]
	v.partition = gadget.PackBits(cs, gadget.AreBits(v.partitionBits))

	commROld := gadget.AllocNum(cs)
	commROld.Inputize(cs)
	v.commDNew = gadget.AllocNum(cs)
	v.commDNew.Inputize(cs)
	v.commRNew = gadget.AllocNum(cs)
	v.commRNew.Inputize(cs)
	v.phi = gadget.Hash(cs, gadget.TagGenRandomness, []gadget.Num{v.commDNew, commROld})

	commC := gadget.AllocNum(cs)
	v.rootROld, v.rootRNew = gadget.AllocNum(cs), gadget.AllocNum(cs)
	v.apexLeaves = gadget.AllocNums(cs, 1<<s.apexBits)
	v.partitionPath = gadget.AllocNums(cs, s.partitionBits)

	hash := func(root gadget.Num) gadget.Num {
		return gadget.Hash(cs, gadget.TagMerkleTree, []gadget.Num{commC, root})
	}
	gadget.EnforceEqual(cs, hash(v.rootROld), commROld)
	gadget.EnforceEqual(cs, hash(v.rootRNew), v.commRNew)
	return v
}

// buildApexRow adds the block of hashes over pairs of a row of the apex tree and returns the next
// row. Its assignment is updateAssigner.apexRow.
func buildApexRow(b *r1cs.Builder, name string, row []gadget.Num) []gadget.Num {
	parents := make([]gadget.Num, len(row)/2)
	left, right := make([]r1cs.Var, len(parents)), make([]r1cs.Var, len(parents))
	for i := range parents {
		left[i], right[i] = row[2*i].Var, row[2*i+1].Var
	}
	var parent gadget.Num
	block := b.Block(name, len(parents), func(cs *r1cs.CS) {
		parent = gadget.SHA256Nodes(cs, gadget.Num{Var: cs.Moving(left)}, gadget.Num{Var: cs.Moving(right)})
	})
	for i := range parents {
		parents[i] = gadget.Num{Var: block.At(i, parent.Var)}
	}
	return parents
}

// buildChallenge makes one challenge: the node's new label from its old one and the new data, and
// the paths of the three in their trees; that of the data only up to the apex tree, which the
// partition has proved. Its assignment is updateAssigner.challenge.
func (s *updateShape) buildChallenge(cs *r1cs.CS, v *updateVars, challenges [][]gadget.Bit) {
	bits := make([]gadget.Bit, 0, s.levels)
	at := make([]r1cs.Var, len(challenges))
	for k := range s.random.PerChallenge {
		for i := range at {
			at[i] = challenges[i][k].Var
		}
		bits = append(bits, gadget.Bit{Var: cs.Moving(at)})
	}
	bits = append(bits, v.partitionBits...)

	high := gadget.HighBits(cs, bits, v.selector, s.hs)
	rho := gadget.Hash(cs, gadget.TagGenRandomness, []gadget.Num{v.phi, high})

	leafROld, leafDNew := gadget.AllocNum(cs), gadget.AllocNum(cs)
	leafRNew := gadget.EncodeNode(cs, leafROld, leafDNew, rho)
	gadget.EnforceInclusionAt(cs, leafROld, v.rootROld, bits, allocPath(cs, s.arities))
	gadget.EnforceInclusionAt(cs, leafRNew, v.rootRNew, bits, allocPath(cs, s.arities))

	apexLeaf := gadget.Select(cs, v.apexLeaves, bits[s.pathLevels:][:s.apexBits])
	gadget.EnforceSHA256InclusionAt(cs, leafDNew, apexLeaf, bits[:s.pathLevels], gadget.AllocNums(cs, s.pathLevels))
}

// allocPath makes the siblings of each level of a Merkle path.
func allocPath(cs *r1cs.CS, arities []int) [][]gadget.Num {
	path := make([][]gadget.Num, len(arities))
	for i, arity := range arities {
		path[i] = gadget.AllocNums(cs, arity-1)
	}
	return path
}

func binaryPath(levels int) []int {
	arities := make([]int, levels)
	for i := range arities {
		arities[i] = 2
	}
	return arities
}
