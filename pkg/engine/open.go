package engine

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/proofmill/proofmill/pkg/filecoin"
)

// openPoRep decodes a C1 output. What it says of the sector is the statement; the replica id binds
// it to the request's miner and sector.
func (j *Job) openPoRep(r *Request) error {
	if err := count(r, 1, "a PoRep has one input, its C1 output"); err != nil {
		return err
	}
	c1, err := filecoin.DecodeC1(r.Vanilla[0], filecoin.Limits{})
	if err != nil {
		return err
	}
	st := &filecoin.SealStatement{
		Proof: filecoin.RegisteredSealProof(r.RegisteredProof), Miner: r.Miner, Sector: r.Sector,
		CommR: c1.CommR, CommD: c1.CommD, Ticket: c1.Ticket, Seed: c1.Seed,
	}
	if err := st.Validate(); err != nil {
		return err
	}
	if err := filecoin.CheckSealCommit(st, c1); err != nil {
		return err
	}
	j.statement, j.sector, j.seal, j.opened = st, r.Sector, c1, st.Partitions()
	return nil
}

// openUpdate decodes the proof of each partition, or the one of partition only.
func (j *Job) openUpdate(r *Request, only int) error {
	st := &filecoin.UpdateStatement{
		Proof:    filecoin.RegisteredUpdateProof(r.RegisteredProof),
		CommROld: r.CommROld, CommRNew: r.CommRNew, CommDNew: r.CommDNew,
	}
	if err := st.Validate(); err != nil {
		return err
	}
	j.statement, j.opened = st, st.Partitions()
	if only >= 0 {
		if only >= st.Partitions() {
			return fmt.Errorf("partition %d does not exist: an update of %s sectors has %d", only, j.circuit.Size, st.Partitions())
		}
		j.first, j.opened = only, 1
	}
	if err := count(r, j.opened, "an update has one vanilla proof for each partition"); err != nil {
		return err
	}
	j.updates = make([]filecoin.UpdateProof, j.opened)
	for i, data := range r.Vanilla {
		p, err := filecoin.DecodeUpdateProof(data, st.Proof)
		if err != nil {
			return fmt.Errorf("partition %d: %w", j.first+i, err)
		}
		j.updates[i] = *p
	}
	return nil
}

// openPoSt decodes the vanilla proof of each sector. A window PoSt's statement begins with the first
// partition at hand.
func (j *Job) openPoSt(ctx context.Context, r *Request, only int) error {
	st := &filecoin.PoStStatement{
		Proof: filecoin.RegisteredPoStProof(r.RegisteredProof), Randomness: r.Randomness,
		Miner: r.Miner, FirstPartition: int(r.PartitionIndex),
	}
	// Filecoin's randomness has its two top bits cleared to be a field element. Callers do so; doing
	// it again changes nothing.
	st.Randomness[31] &= 0x3f
	if only >= 0 {
		j.first = only
		st.FirstPartition += only
	}
	if len(r.Vanilla) == 0 {
		return fmt.Errorf("%w: a PoSt needs a vanilla proof for each sector, there is none", filecoin.ErrMalformed)
	}
	j.posts = make([]filecoin.PoStSectorProof, len(r.Vanilla))
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(j.workers())
	for i, data := range r.Vanilla {
		if inner.Err() != nil {
			break
		}
		g.Go(func() error {
			p, err := filecoin.DecodePoStSectorProof(data, st.Proof)
			if err != nil {
				return fmt.Errorf("input %d: %w", i, err)
			}
			j.posts[i] = *p
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	st.Sectors = make([]filecoin.PublicSector, len(j.posts))
	for i := range j.posts {
		st.Sectors[i] = filecoin.PublicSector{ID: j.posts[i].SectorID, CommR: j.posts[i].CommR}
	}
	if err := st.Validate(); err != nil {
		return err
	}
	j.statement, j.opened = st, st.Partitions()
	if only >= 0 && j.opened != 1 {
		return fmt.Errorf("%w: %d vanilla proofs are more than one partition has", filecoin.ErrMalformed, len(r.Vanilla))
	}
	return nil
}

func count(r *Request, want int, what string) error {
	if len(r.Vanilla) != want {
		return fmt.Errorf("%w: %s: want %d, there are %d", filecoin.ErrMalformed, what, want, len(r.Vanilla))
	}
	return nil
}
