package sample

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/proofmill/proofmill/pkg/filecoin"
)

// PoSt makes a sample of a WinningPoSt, which has one sector, or of a WindowPoSt of o.Sectors sectors with rising
// numbers. It takes about 100 Poseidon hashes and 25 KB for each sector of a WindowPoSt at 32 GiB. It is an error for an
// unknown proof, a number of sectors that the proof cannot have, and where ctx ends.
func PoSt(ctx context.Context, proof filecoin.RegisteredPoStProof, o Options) (*Sample, error) {
	o = o.withDefaults()
	if o.Sectors == 0 && proof.Valid() {
		o.Sectors = proof.SectorsPerPartition()
	}
	if o.Sectors < 0 || o.Sectors > 1<<22 {
		return nil, fmt.Errorf("sample of %s: %d sectors are out of range", proof, o.Sectors)
	}
	general := newSource(o.Seed, proof.String(), 0)
	st := &filecoin.PoStStatement{
		Proof: proof, Miner: o.Miner, Randomness: general.node(useRandomness, 0, 0), Sectors: make([]filecoin.PublicSector, o.Sectors),
	}
	if err := st.Validate(); err != nil { // the numbers, before the work
		return nil, fmt.Errorf("sample: %w", err)
	}
	s := &Sample{Kind: proof.Kind(), Size: proof.Size(), PoSt: st, Sectors: make([]filecoin.PoStSectorProof, o.Sectors)}
	for i := range st.Sectors {
		st.Sectors[i].ID = o.Sector + uint64(i)
	}
	// A winning proof's one tree is made by all workers, a window proof's trees by one each.
	perTree := 1
	if len(st.Sectors) == 1 {
		perTree = o.Workers
	}
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(workersOf(o.Workers))
	for i := range st.Sectors {
		if running.Err() != nil {
			break
		}
		g.Go(func() error {
			p, err := postSector(running, st, i, newSource(o.Seed, proof.String(), st.Sectors[i].ID), perTree)
			if err != nil {
				return err
			}
			s.Sectors[i], st.Sectors[i].CommR = *p, p.CommR
			return nil
		})
	}
	if err := errors.Join(g.Wait(), ctx.Err()); err != nil {
		return nil, fmt.Errorf("sample of %s: %w", proof, err)
	}
	return s, nil
}

// postSector makes the vanilla proof of the sector at place i, whose number must be set; challenges depend on no more.
func postSector(ctx context.Context, st *filecoin.PoStStatement, i int, src source, workers int) (*filecoin.PoStSectorProof, error) {
	arities := st.Proof.Size().Shape().Arities(st.Proof.Size())
	challenges := st.Proof.SectorChallenges(st.Randomness, st.Sectors[i].ID, i)
	leaves := make(map[uint64]filecoin.Node, len(challenges))
	for _, c := range challenges {
		leaves[c] = src.node(useReplica, 0, c)
	}
	treeR, err := newSparseTree(ctx, arities, src, useTreeR, leaves, workers)
	if err != nil {
		return nil, err
	}
	p := &filecoin.PoStSectorProof{
		SectorID: st.Sectors[i].ID, CommC: src.node(useCommC, 0, 0), CommRLast: root(treeR, arities),
		Paths: make([]filecoin.MerklePath, len(challenges)),
	}
	p.CommR = parent(p.CommC, p.CommRLast)
	for n, c := range challenges {
		p.Paths[n] = open(treeR, arities, c)
	}
	return p, nil
}
