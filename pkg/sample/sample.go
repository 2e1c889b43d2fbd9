package sample

import (
	"fmt"

	"github.com/proofmill/proofmill/pkg/filecoin"
)

// Options choose among the samples of a registered proof.
type Options struct {
	Seed    uint64 // all free values
	Miner   uint64 // actor id; DefaultMiner if 0
	Sector  uint64 // number of the sector, or of the first one; DefaultSector if 0
	Sectors int    // of a WindowPoSt: how many sectors; a full partition if 0
	Workers int    // goroutines at a time; all processors if 0
}

// Miner and sector of a sample where none is asked for.
const (
	DefaultMiner  = 1000
	DefaultSector = 1
)

func (o Options) withDefaults() Options {
	if o.Miner == 0 {
		o.Miner = DefaultMiner
	}
	if o.Sector == 0 {
		o.Sector = DefaultSector
	}
	return o
}

// Sample is a statement with its vanilla proofs. It has one statement, and what belongs to that.
type Sample struct {
	Kind filecoin.Kind
	Size filecoin.SectorSize

	Seal   *filecoin.SealStatement
	Commit *filecoin.SealCommit // of Seal: the output of C1

	PoSt    *filecoin.PoStStatement
	Sectors []filecoin.PoStSectorProof // of PoSt: one for each sector

	Update     *filecoin.UpdateStatement
	Partitions []filecoin.UpdateProof // of Update: one for each partition
}

// Inputs is how many vanilla proofs a request has for the sample: one for a PoRep, one for each sector of a PoSt, one
// for each partition of an update.
func (s *Sample) Inputs() int {
	switch s.Kind {
	case filecoin.PoRep:
		return 1
	case filecoin.Update:
		return len(s.Partitions)
	default:
		return len(s.Sectors)
	}
}

// Input encodes vanilla proof i as a storage provider sends it: a PoRep's as the C1 output's JSON (which Curio puts into
// a wrapper, see [filecoin.EncodeC1Wrapper]), all others as bincode.
func (s *Sample) Input(i int) ([]byte, error) {
	if i < 0 || i >= s.Inputs() {
		return nil, fmt.Errorf("sample of %s %s: vanilla proof %d does not exist: there are %d", s.Kind, s.Size, i, s.Inputs())
	}
	switch s.Kind {
	case filecoin.PoRep:
		return filecoin.EncodeC1(s.Commit)
	case filecoin.Update:
		return filecoin.EncodeUpdateProof(&s.Partitions[i], s.Update.Proof)
	default:
		return filecoin.EncodePoStSectorProof(&s.Sectors[i], s.PoSt.Proof)
	}
}
