package filecoin

import "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

// PublicSector is what is public of a sector in a PoSt.
type PublicSector struct {
	ID    uint64 // sector number
	CommR Node
}

// PoStStatement is what a PoSt proves: that Miner still stores Sectors at the time that Randomness fixes. The chain
// verifies a window proof with its sectors in rising order of number.
type PoStStatement struct {
	Proof      RegisteredPoStProof
	Randomness [32]byte // below the scalar modulus; callers of Filecoin clear its two top bits
	Miner      uint64   // actor id; no public input depends on it
	Sectors    []PublicSector
	// FirstPartition is the place of the first partition among those of its deadline, for a caller that proves one
	// partition alone. Up to API 1.1.0 challenges count on over partitions, so that they depend on it.
	FirstPartition int
}

// maxPoStPartitions bounds a statement's partitions; a deadline has far fewer.
const maxPoStPartitions = 1024

// Validate tells whether the statement can be proved at all: a known proof, sectors in a number that the proof has
// partitions for, values that are field elements.
func (s *PoStStatement) Validate() error {
	switch {
	case !s.Proof.Valid():
		return impossible("registered PoSt proof %d is unknown", uint64(s.Proof))
	case len(s.Sectors) == 0:
		return impossible("a PoSt needs at least one sector")
	case s.Proof.Kind() == Winning && len(s.Sectors) != 1:
		return impossible("a winning PoSt is about one sector, not %d", len(s.Sectors))
	case s.FirstPartition < 0 || s.FirstPartition > maxPoStPartitions:
		return impossible("first partition %d is out of range", s.FirstPartition)
	case s.Proof.Kind() == Winning && s.FirstPartition != 0:
		return impossible("a winning PoSt has one partition, number 0, not %d", s.FirstPartition)
	case s.Partitions() > maxPoStPartitions:
		return impossible("%d sectors need %d partitions: at most %d are allowed", len(s.Sectors), s.Partitions(), maxPoStPartitions)
	}
	if err := canonical(named{"randomness", s.Randomness}); err != nil {
		return err
	}
	for i := range s.Sectors {
		if _, err := s.Sectors[i].CommR.Element(); err != nil {
			return impossible("comm_r of sector %d is not a field element", s.Sectors[i].ID)
		}
	}
	return nil
}

// Partitions is the number of partition proofs.
func (s *PoStStatement) Partitions() int {
	per := s.Proof.SectorsPerPartition()
	return (len(s.Sectors) + per - 1) / per
}

// PartitionSectors are the sectors of partition k: a sub-slice of Sectors. A partition that has fewer than the circuit
// repeats its last one.
func (s *PoStStatement) PartitionSectors(k int) []PublicSector {
	per := s.Proof.SectorsPerPartition()
	return s.Sectors[k*per : min((k+1)*per, len(s.Sectors))]
}

// SectorChallenges are the challenged leaves of the sector at place i of partition k.
func (s *PoStStatement) SectorChallenges(k, i int) []uint64 {
	place := (s.FirstPartition+k)*s.Proof.SectorsPerPartition() + i
	return s.Proof.SectorChallenges(s.Randomness, s.PartitionSectors(k)[i].ID, place)
}

// PublicInputs are the public inputs of partition k in the circuit's order, without the constant one. The window circuit
// has for each sector comm_r and ten challenged leaves; the winning circuit for each of its 66 challenges comm_r and the
// leaf. It is an error for an impossible statement and for k out of range.
func (s *PoStStatement) PublicInputs(k int) ([]fr.Element, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := inRange(k, s.Partitions()); err != nil {
		return nil, err
	}
	sectors := s.PartitionSectors(k)
	perSector := 1 + s.Proof.Challenges()
	if s.Proof.Kind() == Winning {
		perSector = 2 * s.Proof.Challenges()
	}
	out := make([]fr.Element, 0, perSector*s.Proof.SectorsPerPartition())
	for i := range sectors {
		commR, err := sectors[i].CommR.Element()
		if err != nil {
			return nil, impossible("comm_r of sector %d is not a field element", sectors[i].ID)
		}
		for n, leaf := range s.SectorChallenges(k, i) {
			if n == 0 || s.Proof.Kind() == Winning {
				out = append(out, commR)
			}
			out = append(out, fr.NewElement(leaf))
		}
	}
	last := out[len(out)-perSector:]
	for len(out) < cap(out) {
		out = append(out, last...)
	}
	return out, nil
}

// Public is what is public of the sector.
func (p *PoStSectorProof) Public() PublicSector { return PublicSector{ID: p.SectorID, CommR: p.CommR} }
