package circuit

import (
	"context"
	"fmt"
	"runtime"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"golang.org/x/sync/errgroup"

	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/gadget"
	"github.com/proofmill/proofmill/pkg/r1cs"
	"github.com/proofmill/proofmill/pkg/witness"
)

// AssignUpdate makes the witness of partition k of a sector update from the partition's vanilla
// proof. sys is what [Build] made for an update of the statement's size.
//
// Challenges and the hashes of the apex tree are assigned on up to workers goroutines (all
// processors if 0). It blocks until done or ctx ends. A statement that cannot be proved, a vanilla
// proof of the wrong shape or for other challenges, and one that does not lead to the statement's
// commitments are errors, which name the challenge where there is one.
func AssignUpdate(ctx context.Context, sys *r1cs.System, st *filecoin.UpdateStatement, k int, proof *filecoin.UpdateProof, workers int) (*witness.Witness, error) {
	u, err := newUpdateAssigner(st, k, proof)
	if err != nil {
		return nil, fmt.Errorf("update partition %d: %w", k, err)
	}
	if len(sys.Blocks) != u.challengesBlock()+1 {
		return nil, fmt.Errorf("update partition %d: the constraint system is not that of an update of %s", k, st.Proof.Size())
	}
	w := witness.New(sys)
	if err := u.assign(ctx, w, workers); err != nil {
		return nil, fmt.Errorf("update partition %d: %w", k, err)
	}
	return w, nil
}

// maxApexLeaves is the most leaves that an apex tree has.
const maxApexLeaves = 128

// updateAssigner is what all blocks of one partition are assigned from. It is only read once made.
type updateAssigner struct {
	*updateShape
	proof         *filecoin.UpdateProof
	inputs        [4]fr.Element // public inputs in their order
	k             uint64
	challenges    []uint64
	commC         fr.Element
	rootROld      fr.Element
	rootRNew      fr.Element
	phi           fr.Element
	apex          [][]fr.Element // rows of the apex tree, leaves first
	partitionPath []fr.Element   // siblings
}

func (u *updateAssigner) commROld() *fr.Element { return &u.inputs[1] }
func (u *updateAssigner) commDNew() *fr.Element { return &u.inputs[2] }
func (u *updateAssigner) commRNew() *fr.Element { return &u.inputs[3] }

func newUpdateAssigner(st *filecoin.UpdateStatement, k int, proof *filecoin.UpdateProof) (*updateAssigner, error) {
	inputs, err := st.PublicInputs(k)
	if err != nil {
		return nil, err
	}
	u := &updateAssigner{updateShape: newUpdateShape(st.Proof.Size()), proof: proof, k: uint64(k)} //nolint:gosec // a partition's number, as PublicInputs checked
	copy(u.inputs[:], inputs)
	if u.challenges, err = st.Challenges(k); err != nil {
		return nil, err
	}
	if u.phi, err = st.Phi(); err != nil {
		return nil, err
	}
	if len(proof.ApexLeaves) != 1<<u.apexBits || len(proof.Challenges) != len(u.challenges) {
		return nil, fmt.Errorf("vanilla proof has %d apex leaves and %d challenges, want %d and %d",
			len(proof.ApexLeaves), len(proof.Challenges), 1<<u.apexBits, len(u.challenges))
	}
	for i := range proof.Challenges {
		if err := u.checkChallenge(i); err != nil {
			return nil, fmt.Errorf("challenge %d: %w", i, err)
		}
	}
	first := &proof.Challenges[0]
	if u.commC, err = element("comm_c", &proof.CommC); err != nil {
		return nil, err
	}
	if u.rootROld, err = element("root of the old replica", &first.ROld.Root); err != nil {
		return nil, err
	}
	if u.rootRNew, err = element("root of the new replica", &first.RNew.Root); err != nil {
		return nil, err
	}
	for _, level := range first.DNew.Elements[u.levels-u.partitionBits:] {
		sibling, err := element("partition path", &level.Siblings[0])
		if err != nil {
			return nil, err
		}
		u.partitionPath = append(u.partitionPath, sibling)
	}
	if err := u.buildApex(); err != nil {
		return nil, err
	}
	return u, nil
}

// checkChallenge checks that the paths of challenge i have their trees' shapes and lead from the
// challenged leaf.
func (u *updateAssigner) checkChallenge(i int) error {
	c := &u.proof.Challenges[i]
	for _, p := range [...]struct {
		name    string
		path    *filecoin.MerklePath
		arities []int
	}{
		{"old replica", &c.ROld, u.arities}, {"new data", &c.DNew, binaryPath(u.levels)}, {"new replica", &c.RNew, u.arities},
	} {
		if err := checkPathShape(p.path.Elements, p.arities); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if at := p.path.Challenge(); at != u.challenges[i] {
			return fmt.Errorf("%s: path is that of leaf %d, the challenge is %d", p.name, at, u.challenges[i])
		}
	}
	return nil
}

// buildApex hashes the apex tree.
func (u *updateAssigner) buildApex() error {
	row := append([]filecoin.Node(nil), u.proof.ApexLeaves...)
	for {
		elements := make([]fr.Element, len(row))
		for i := range row {
			var err error
			if elements[i], err = element("apex leaf", &row[i]); err != nil {
				return err
			}
		}
		u.apex = append(u.apex, elements)
		if len(row) == 1 {
			return nil
		}
		for i := range len(row) / 2 {
			row[i] = filecoin.HashD(&row[2*i], &row[2*i+1])
		}
		row = row[:len(row)/2]
	}
}

// assign assigns all blocks of w.
func (u *updateAssigner) assign(ctx context.Context, w *witness.Witness, workers int) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	instance := func(block, i int, assign func(a *r1cs.Assigner) error) {
		if running.Err() != nil {
			return
		}
		g.Go(func() error {
			var failed error
			if err := w.Assign(block, i, func(a *r1cs.Assigner) { failed = assign(a) }); failed == nil {
				return err
			}
			return failed
		})
	}
	for i := range u.challenges {
		instance(u.challengesBlock(), i, func(a *r1cs.Assigner) error {
			if err := u.challenge(a, i); err != nil {
				return fmt.Errorf("challenge %d: %w", i, err)
			}
			return nil
		})
	}
	instance(updateStatementBlock, 0, u.statement)
	for level, row := range u.apex[:u.apexBits] {
		for i := range len(row) / 2 {
			instance(updateFirstApexRow+level, i, func(a *r1cs.Assigner) error {
				gadget.AssignSHA256Nodes(a, &row[2*i], &row[2*i+1])
				return nil
			})
		}
	}
	instance(u.partitionBlock(), 0, u.partition)
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// statement is the assignment of updateShape.buildStatement.
func (u *updateAssigner) statement(a *r1cs.Assigner) error {
	packed := &u.inputs[0]
	a.Element(packed)
	a.Input(packed)
	a.ElementBits(packed, uint(u.partitionBits+len(u.hs)))
	partition := fr.NewElement(u.k)
	a.Element(&partition)
	for i := range u.inputs[1:] {
		a.Element(&u.inputs[1+i])
		a.Input(&u.inputs[1+i])
	}
	gadget.AssignHash(a, gadget.TagGenRandomness, []fr.Element{*u.commDNew(), *u.commROld()})

	a.Element(&u.commC)
	a.Element(&u.rootROld)
	a.Element(&u.rootRNew)
	copy(a.NextElements(len(u.apex[0])), u.apex[0])
	copy(a.NextElements(len(u.partitionPath)), u.partitionPath)
	if gadget.AssignHash(a, gadget.TagMerkleTree, []fr.Element{u.commC, u.rootROld}) != *u.commROld() {
		return fmt.Errorf("comm_r_old is not the hash of comm_c and the old replica's root")
	}
	if gadget.AssignHash(a, gadget.TagMerkleTree, []fr.Element{u.commC, u.rootRNew}) != *u.commRNew() {
		return fmt.Errorf("comm_r_new is not the hash of comm_c and the new replica's root")
	}
	return nil
}

// partition is the assignment of the partition block: the path from the apex tree's root to the
// commitment of the data, and the digests of the challenges.
func (u *updateAssigner) partition(a *r1cs.Assigner) error {
	node := u.apex[u.apexBits][0]
	for i := range u.partitionPath {
		node = gadget.AssignSHA256StepGivenIndex(a, &node, u.k>>i&1 == 1, &u.partitionPath[i])
	}
	if node != *u.commDNew() {
		return fmt.Errorf("apex leaves do not lead to comm_d_new")
	}
	u.random.Assign(a, u.commRNew(), u.k)
	return nil
}

// challenge is the assignment of updateShape.buildChallenge.
func (u *updateAssigner) challenge(a *r1cs.Assigner, i int) error {
	c, challenge := &u.proof.Challenges[i], u.challenges[i]
	high := gadget.AssignHighBits(a, challenge, u.levels, u.size.UpdateHSelect(), u.hs)
	rho := gadget.AssignHash(a, gadget.TagGenRandomness, []fr.Element{u.phi, high})

	leafROld, err := element("leaf of the old replica", &c.ROld.Leaf)
	if err != nil {
		return err
	}
	leafDNew, err := element("leaf of the new data", &c.DNew.Leaf)
	if err != nil {
		return err
	}
	claimed, err := element("leaf of the new replica", &c.RNew.Leaf)
	if err != nil {
		return err
	}
	a.Element(&leafROld)
	a.Element(&leafDNew)
	leafRNew := gadget.AssignEncodeNode(a, &leafROld, &leafDNew, &rho)
	if leafRNew != claimed {
		return fmt.Errorf("leaf of the new replica is not the encoding of the new data")
	}
	if err := u.replicaPath(a, leafROld, c.ROld.Elements, &u.rootROld); err != nil {
		return fmt.Errorf("old replica: %w", err)
	}
	if err := u.replicaPath(a, leafRNew, c.RNew.Elements, &u.rootRNew); err != nil {
		return fmt.Errorf("new replica: %w", err)
	}
	if err := u.dataPath(a, leafDNew, challenge, c.DNew.Elements[:u.pathLevels]); err != nil {
		return fmt.Errorf("new data: %w", err)
	}
	return nil
}

// replicaPath assigns the siblings of a path in a replica's tree and then its levels.
func (u *updateAssigner) replicaPath(a *r1cs.Assigner, node fr.Element, levels []filecoin.PathElement, root *fr.Element) error {
	siblings, err := assignSiblings(a, levels, u.siblings)
	if err != nil {
		return err
	}
	for i := range levels {
		n := len(levels[i].Siblings)
		node = gadget.AssignMerkleStep(a, &node, uint64(levels[i].Index), siblings[:n])
		siblings = siblings[n:]
	}
	if node != *root {
		return fmt.Errorf("path does not lead to the root")
	}
	return nil
}

// dataPath assigns the choice of a leaf of the apex tree, and the siblings and levels of the path
// that leads there.
func (u *updateAssigner) dataPath(a *r1cs.Assigner, node fr.Element, challenge uint64, levels []filecoin.PathElement) error {
	var leaves [maxApexLeaves]fr.Element
	n := copy(leaves[:], u.apex[0])
	apexLeaf := gadget.AssignSelect(a, leaves[:n], challenge>>u.pathLevels&uint64(n-1)) //nolint:gosec // n is 1<<apexBits
	siblings, err := assignSiblings(a, levels, len(levels))
	if err != nil {
		return err
	}
	for i := range siblings {
		node = gadget.AssignSHA256StepGivenIndex(a, &node, challenge>>i&1 == 1, &siblings[i])
	}
	if node != apexLeaf {
		return fmt.Errorf("path does not lead to the apex leaf")
	}
	return nil
}

// assignSiblings assigns all siblings of a path, n of them, as variables, and returns them.
func assignSiblings(a *r1cs.Assigner, levels []filecoin.PathElement, n int) ([]fr.Element, error) {
	out := a.NextElements(n)
	k := 0
	for i := range levels {
		for j := range levels[i].Siblings {
			var err error
			if out[k], err = levels[i].Siblings[j].Element(); err != nil {
				return nil, fmt.Errorf("level %d, sibling %d: %w", i, j, err)
			}
			k++
		}
	}
	return out, nil
}

// element is a node as a field element, or an error that says what is not one.
func element(what string, n *filecoin.Node) (fr.Element, error) {
	e, err := n.Element()
	if err != nil {
		return e, fmt.Errorf("%s: %w", what, err)
	}
	return e, nil
}
