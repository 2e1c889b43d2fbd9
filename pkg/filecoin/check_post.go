package filecoin

import "context"

// CheckPoStSector checks the vanilla proof of the sector at place i of partition k: that it is of that sector, its paths
// open the challenged leaves of tree R and hash to comm_r_last, and comm_r = H(comm_c, comm_r_last). The first mismatch
// is a CheckError; the other errors are those of an impossible statement or an ended context. The statement is trusted to
// be valid (Validate it once): a partition of a deadline has thousands of sectors. It may be called for several sectors
// at once.
func CheckPoStSector(ctx context.Context, st *PoStStatement, k, i int, p *PoStSectorProof) error {
	if err := MatchPoStSector(ctx, st, k, i, p); err != nil {
		return err
	}
	s := site{kind: st.Proof.Kind(), sector: p.SectorID, partition: k, challenge: -1}
	expected := st.SectorChallenges(k, i)
	tree := newPoseidonTree(st.Proof.Size())
	for n := range p.Paths {
		if err := tree.check(s.at(n), &p.Paths[n], expected[n], "comm_r_last path"); err != nil {
			return err
		}
	}
	return nil
}

// MatchPoStSector is CheckPoStSector without the hashes of the paths, for a caller who computes them anyway, as the witness of the
// circuit does.
func MatchPoStSector(ctx context.Context, st *PoStStatement, k, i int, p *PoStSectorProof) error {
	if err := inRange(k, st.Partitions()); err != nil {
		return err
	}
	sectors := st.PartitionSectors(k)
	if i < 0 || i >= len(sectors) {
		return impossible("partition %d has %d sectors, none at place %d", k, len(sectors), i)
	}
	sector := &sectors[i]
	s := site{kind: st.Proof.Kind(), sector: sector.ID, partition: k, challenge: -1}
	if err := proceed(ctx); err != nil {
		return err
	}
	if p.SectorID != sector.ID {
		return s.fail("the vanilla proof is of sector %d", p.SectorID)
	}
	if p.CommR != sector.CommR {
		return s.fail("comm_r of the vanilla proof is %s, of the statement %s", p.CommR, sector.CommR)
	}
	if err := checkCommR(s, &sector.CommR, &p.CommC, &p.CommRLast, nameCommR); err != nil {
		return err
	}
	size := st.Proof.Size()
	expected := st.SectorChallenges(k, i)
	if len(p.Paths) != len(expected) {
		return s.fail("%d paths where %d are needed", len(p.Paths), len(expected))
	}
	form := newTreePath(size.Shape(), size)
	for n := range p.Paths {
		path := &p.Paths[n]
		if err := path.hasForm(&form); err != nil {
			return s.at(n).fail("%v", err)
		}
		if got := path.Challenge(); got != expected[n] {
			return s.at(n).fail("comm_r_last path: path of leaf %d where the challenge asks for leaf %d", got, expected[n])
		}
		if path.Root != p.CommRLast {
			return s.at(n).fail("comm_r_last path: root %s is not comm_r_last", path.Root)
		}
	}
	return nil
}
