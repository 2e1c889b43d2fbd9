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

// postInstances is how often the sector block of a PoSt circuit repeats and how many challenges
// each instance has: a window proof has an instance for each sector of the partition, a winning
// proof one for each challenge of its one sector.
func postInstances(kind filecoin.Kind, size filecoin.SectorSize) (instances, challenges int) {
	if kind == filecoin.Winning {
		return filecoin.WinningChallenges, 1
	}
	return size.WindowSectors(), filecoin.WindowChallenges
}

// buildPoSt makes the system of the reference's FallbackPoSt circuit: comm_r = H(comm_c, comm_r_last)
// and, for each challenge, a leaf in the tree with root comm_r_last. Public inputs of an instance
// are comm_r and the challenges.
func buildPoSt(kind filecoin.Kind, size filecoin.SectorSize) *r1cs.System {
	instances, challenges := postInstances(kind, size)
	arities := size.Shape().Arities(size)
	b := r1cs.NewBuilder()
	b.Block("sector", instances, func(cs *r1cs.CS) {
		commRLast, commC, commR := gadget.AllocNum(cs), gadget.AllocNum(cs), gadget.AllocNum(cs)
		commR.Inputize(cs)
		gadget.EnforceEqual(cs, commR, gadget.Hash(cs, gadget.TagMerkleTree, []gadget.Num{commC, commRLast}))
		for range challenges {
			gadget.EnforceInclusion(cs, gadget.AllocNum(cs), commRLast, arities)
		}
	})
	return b.System()
}

// AssignPoSt makes the witness of one partition of a PoSt from the vanilla proofs of its sectors.
// sys is what [Build] made for kind and size. A winning proof has one sector; a window proof up to
// as many as the circuit, of which the last is repeated to fill it up.
//
// Sectors are assigned on up to workers goroutines (all processors if 0). It blocks until done or ctx
// ends. A vanilla proof of the wrong shape, or one that does not lead to its commitments, is an
// error that names sector and challenge.
func AssignPoSt(ctx context.Context, kind filecoin.Kind, size filecoin.SectorSize, sys *r1cs.System, proofs []filecoin.PoStSectorProof, workers int) (*witness.Witness, error) {
	instances, challenges := postInstances(kind, size)
	if err := checkPoSt(kind, size, proofs); err != nil {
		return nil, err
	}
	if len(sys.Blocks) != 1 || sys.Blocks[0].Repeat != instances {
		return nil, fmt.Errorf("circuit given for a proof %s-%s is another one", kind, size)
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	distinct := instances
	if kind == filecoin.Window {
		distinct = len(proofs)
	}
	w := witness.New(sys)
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i := range distinct {
		if running.Err() != nil {
			break
		}
		g.Go(func() error {
			p, first := &proofs[0], i
			if kind == filecoin.Window {
				p, first = &proofs[i], 0
			}
			s := postAssigner{arities: size.Shape().Arities(size)}
			if err := w.Assign(0, i, func(a *r1cs.Assigner) { s.sector(a, p, first, challenges) }); err != nil && s.err == nil {
				return err
			}
			return s.err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i := distinct; i < instances; i++ {
		w.CopyInstance(0, i, distinct-1)
	}
	return w, nil
}

// checkPoSt checks the numbers of sectors and of paths.
func checkPoSt(kind filecoin.Kind, size filecoin.SectorSize, proofs []filecoin.PoStSectorProof) error {
	most, paths := 1, filecoin.WinningChallenges
	switch kind {
	case filecoin.Winning:
	case filecoin.Window:
		most, paths = size.WindowSectors(), filecoin.WindowChallenges
	default:
		return fmt.Errorf("vanilla proofs of a PoSt do not fit a proof of kind %s", kind)
	}
	if len(proofs) == 0 || len(proofs) > most {
		return fmt.Errorf("%s %s: vanilla proofs of %d sectors, a partition has 1 to %d", kind, size, len(proofs), most)
	}
	for i := range proofs {
		if n := len(proofs[i].Paths); n != paths {
			return fmt.Errorf("sector %d: vanilla proof has %d challenges, a %s proof has %d", proofs[i].SectorID, n, kind, paths)
		}
	}
	return nil
}

// postAssigner assigns one instance. The first error ends it.
type postAssigner struct {
	arities []int
	err     error
}

func (s *postAssigner) failf(p *filecoin.PoStSectorProof, format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("sector %d: "+format, append([]any{p.SectorID}, args...)...)
	}
}

func (s *postAssigner) node(p *filecoin.PoStSectorProof, what string, n *filecoin.Node) fr.Element {
	e, err := n.Element()
	if err != nil {
		s.failf(p, "%s: %w", what, err)
	}
	return e
}

// sector assigns the commitments of p and its challenges from first on.
func (s *postAssigner) sector(a *r1cs.Assigner, p *filecoin.PoStSectorProof, first, challenges int) {
	commRLast := s.node(p, "comm_r_last", &p.CommRLast)
	commC := s.node(p, "comm_c", &p.CommC)
	commR := s.node(p, "comm_r", &p.CommR)
	a.Element(&commRLast)
	a.Element(&commC)
	a.Element(&commR)
	a.Input(&commR)
	if got := gadget.AssignHash(a, gadget.TagMerkleTree, []fr.Element{commC, commRLast}); got != commR {
		s.failf(p, "comm_r is not the hash of comm_c and comm_r_last")
	}
	for k := first; k < first+challenges && s.err == nil; k++ {
		s.path(a, p, k, &commRLast)
	}
}

// path assigns challenge k: the leaf, the levels of its path, and the challenge.
func (s *postAssigner) path(a *r1cs.Assigner, p *filecoin.PoStSectorProof, k int, root *fr.Element) {
	path := &p.Paths[k]
	node, err := assignLeafPath(a, path, s.arities)
	if err != nil {
		s.failf(p, "challenge %d: %w", k, err)
		return
	}
	if node != *root {
		s.failf(p, "challenge %d: the path does not lead to comm_r_last", k)
	}
	var challenge fr.Element
	challenge.SetUint64(path.Challenge())
	a.Input(&challenge)
}
