package circuit

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"golang.org/x/sync/errgroup"

	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/gadget"
	"github.com/proofmill/proofmill/pkg/r1cs"
	"github.com/proofmill/proofmill/pkg/witness"
)

// AssignPoRep makes the witness of partition k of a PoRep from the partition's vanilla proof. sys is
// what [Build] made for a PoRep of the statement's size.
//
// Challenges are assigned on up to workers goroutines (all processors if 0). It blocks until done or
// ctx ends. An impossible statement, a vanilla proof of the wrong shape, and one that does not lead
// to the statement's commitments are errors, which name the challenge and path where there is one.
// Whether the challenges are those of the statement is not checked: they end up in the public inputs.
func AssignPoRep(ctx context.Context, sys *r1cs.System, st *filecoin.SealStatement, k int, challenges []filecoin.PoRepChallenge, workers int) (*witness.Witness, error) {
	w, err := assignPoRep(ctx, sys, st, challenges, workers)
	if err != nil {
		return nil, fmt.Errorf("porep partition %d: %w", k, err)
	}
	return w, nil
}

func assignPoRep(ctx context.Context, sys *r1cs.System, st *filecoin.SealStatement, challenges []filecoin.PoRepChallenge, workers int) (*witness.Witness, error) {
	if err := st.Validate(); err != nil {
		return nil, err
	}
	if got, want := len(challenges), st.Proof.Size().PoRepChallenges(); got != want {
		return nil, fmt.Errorf("vanilla proof has %d challenges, want %d", got, want)
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	p, err := newPoRepAssigner(st, &challenges[0])
	if err != nil {
		return nil, err
	}
	w := witness.New(sys)
	if err := assignInstance(w, porepCommitments, 0, p.commitments); err != nil {
		return nil, err
	}
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i := range challenges {
		if running.Err() != nil {
			break
		}
		g.Go(func() error {
			if err := assignInstance(w, porepChallenges, i, func(a *r1cs.Assigner) error {
				return p.challenge(a, &challenges[i])
			}); err != nil {
				return fmt.Errorf("challenge %d: %w", i, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return w, nil
}

// assignInstance is w.Assign for an assignment that can fail; its own error comes first, as an
// instance that was given up is incomplete too.
func assignInstance(w *witness.Witness, block, i int, assign func(a *r1cs.Assigner) error) error {
	var failed error
	err := w.Assign(block, i, func(a *r1cs.Assigner) { failed = assign(a) })
	if failed != nil {
		return failed
	}
	return err
}

// porepAssigner is what all blocks of a partition are assigned from. It is only read once made.
type porepAssigner struct {
	layers, levelsD                           int
	arities                                   []int
	replicaID, commD, commR, commC, commRLast fr.Element
	replicaIDWords                            [8]gadget.Word
}

// newPoRepAssigner reads the commitments; comm_c and comm_r_last are the roots of a challenge.
func newPoRepAssigner(st *filecoin.SealStatement, p *filecoin.PoRepChallenge) (*porepAssigner, error) {
	size, replicaID := st.Proof.Size(), st.ReplicaID()
	s := &porepAssigner{layers: size.Layers(), levelsD: size.Levels(), arities: size.Shape().Arities(size)}
	for _, v := range [...]struct {
		name string
		dst  *fr.Element
		node *filecoin.Node
	}{
		{"replica id", &s.replicaID, &replicaID},
		{"comm_d", &s.commD, &st.CommD},
		{"comm_r", &s.commR, &st.CommR},
		{"comm_c", &s.commC, &p.CX.Path.Root},
		{"comm_r_last", &s.commRLast, &p.CommRLast.Root},
	} {
		var err error
		if *v.dst, err = v.node.Element(); err != nil {
			return nil, fmt.Errorf("%s: %w", v.name, err)
		}
	}
	s.replicaIDWords = gadget.ElementWords(&s.replicaID)
	return s, nil
}

func (s *porepAssigner) commitments(a *r1cs.Assigner) error {
	a.Element(&s.replicaID)
	a.Input(&s.replicaID)
	a.ElementBits(&s.replicaID, fr.Bits)
	a.Element(&s.commD)
	a.Input(&s.commD)
	a.Element(&s.commR)
	a.Input(&s.commR)
	a.Element(&s.commRLast)
	a.Element(&s.commC)
	if gadget.AssignHash(a, gadget.TagMerkleTree, []fr.Element{s.commC, s.commRLast}) != s.commR {
		return errors.New("comm_r is not the hash of comm_c and comm_r_last")
	}
	return nil
}

func (s *porepAssigner) challenge(a *r1cs.Assigner, p *filecoin.PoRepChallenge) error {
	data, err := s.data(a, &p.CommD)
	if err != nil {
		return fmt.Errorf("comm_d path: %w", err)
	}
	if len(p.DRGParents) != filecoin.DRGDegree || len(p.ExpParents) != filecoin.ExpDegree {
		return fmt.Errorf("%d DRG and %d expander parents, want %d and %d",
			len(p.DRGParents), len(p.ExpParents), filecoin.DRGDegree, filecoin.ExpDegree)
	}
	var columns [filecoin.DRGDegree + filecoin.ExpDegree]column
	drg, exp := columns[:filecoin.DRGDegree], columns[filecoin.DRGDegree:]
	for i := range drg {
		if err := s.column(a, &p.DRGParents[i], &drg[i]); err != nil {
			return fmt.Errorf("DRG parent %d: %w", i, err)
		}
	}
	for i := range exp {
		if err := s.column(a, &p.ExpParents[i], &exp[i]); err != nil {
			return fmt.Errorf("expander parent %d: %w", i, err)
		}
	}

	a.Bits(p.Challenge, 64)
	assignIndex(a, p.Challenge)
	var labels column
	for layer := range s.layers {
		labels[layer] = s.label(a, p.Challenge, &columns, layer)
	}
	replica := gadget.AssignEncodeReplica(a, &labels[s.layers-1], &data)
	if err := s.inclusion(a, &replica, &p.CommRLast, &s.commRLast); err != nil {
		return fmt.Errorf("comm_r_last path of the encoded node: %w", err)
	}
	hash := gadget.AssignColumnHash(a, labels[:s.layers])
	if err := s.inclusion(a, &hash, &p.CX.Path, &s.commC); err != nil {
		return fmt.Errorf("comm_c path of the recomputed labels: %w", err)
	}
	return nil
}

// data assigns the data node and its path in tree D, and returns the node.
func (s *porepAssigner) data(a *r1cs.Assigner, path *filecoin.MerklePath) (fr.Element, error) {
	leaf, err := path.Leaf.Element()
	if err != nil {
		return leaf, fmt.Errorf("leaf: %w", err)
	}
	a.Element(&leaf)
	if len(path.Elements) != s.levelsD {
		return leaf, fmt.Errorf("path has %d levels, the tree %d", len(path.Elements), s.levelsD)
	}
	node := leaf
	for i := range path.Elements {
		level := &path.Elements[i]
		if len(level.Siblings) != 1 || level.Index > 1 {
			return leaf, fmt.Errorf("level %d of the path has %d siblings and position %d, the tree is binary", i, len(level.Siblings), level.Index)
		}
		sibling, err := level.Siblings[0].Element()
		if err != nil {
			return leaf, fmt.Errorf("level %d: %w", i, err)
		}
		node = gadget.AssignSHA256Step(a, &node, level.Index == 1, &sibling)
	}
	assignIndex(a, path.Challenge())
	if node != s.commD {
		return leaf, errWrongRoot
	}
	return leaf, nil
}

// column assigns a parent's column and its path in tree C.
func (s *porepAssigner) column(a *r1cs.Assigner, p *filecoin.ColumnProof, rows *column) error {
	if len(p.Rows) != s.layers {
		return fmt.Errorf("column has %d rows, want %d", len(p.Rows), s.layers)
	}
	for i := range p.Rows {
		var err error
		if rows[i], err = p.Rows[i].Element(); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	hash := gadget.AssignColumn(a, rows[:s.layers])
	return s.inclusion(a, &hash, &p.Path, &s.commC)
}

// inclusion assigns a path in tree C or R from a leaf that the circuit computed.
func (s *porepAssigner) inclusion(a *r1cs.Assigner, leaf *fr.Element, path *filecoin.MerklePath, root *fr.Element) error {
	node, err := assignPath(a, leaf, path.Elements, s.arities)
	if err != nil {
		return err
	}
	assignIndex(a, path.Challenge())
	if node != *root {
		return errWrongRoot
	}
	return nil
}

// label assigns the label of a node in a layer (0 is the first) and returns it.
func (s *porepAssigner) label(a *r1cs.Assigner, node uint64, columns *[filecoin.DRGDegree + filecoin.ExpDegree]column, layer int) fr.Element {
	var parents [len(columns)][8]gadget.Word
	n := 0
	for i := range columns {
		row := layer
		if i >= filecoin.DRGDegree {
			row--
		}
		if row >= 0 {
			a.ElementBits(&columns[i][row], fr.Bits)
			parents[n] = gadget.ElementWords(&columns[i][row])
			n++
		}
	}
	return gadget.AssignLabel(a, &s.replicaIDWords, uint32(layer+1), node, parents[:n]) //nolint:gosec // at most 11
}

var errWrongRoot = errors.New("the path does not lead to the root")

// assignIndex assigns a node's index as a public input.
func assignIndex(a *r1cs.Assigner, index uint64) {
	var x fr.Element
	x.SetUint64(index)
	a.Input(&x)
}
