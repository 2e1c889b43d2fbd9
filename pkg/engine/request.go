package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/proofmill/proofmill/pkg/filecoin"
)

// Errors of requests that can never be proved, beside filecoin.ErrMalformed and
// filecoin.ErrStatement.
var (
	// ErrUnknownProof: no registered proof of this kind has the number.
	ErrUnknownProof = errors.New("unknown registered proof")
	// ErrSize: sector size and registered proof contradict each other.
	ErrSize = errors.New("contradictory sector size")
	// ErrTestProof: the circuit exists for tests only, and the process does not allow those.
	ErrTestProof = errors.New("test-only proof")
)

// Request is a request for a proof.
type Request struct {
	Kind            filecoin.Kind
	RegisteredProof uint64 // number of the registered seal, PoSt or update proof
	SectorSize      uint64 // bytes; 0: that of the registered proof
	Miner           uint64 // actor id
	Sector          uint64 // sector number; PoRep only
	PartitionIndex  uint32 // place of the first partition in its deadline; WindowPoSt only
	Randomness      [32]byte
	CommROld        filecoin.Node
	CommRNew        filecoin.Node
	CommDNew        filecoin.Node
	// Vanilla has the vanilla proofs: the C1 output of a PoRep, one for each sector of a PoSt, one
	// for each partition of an update. They are only read while the request is opened.
	Vanilla [][]byte
}

// Options are what a process allows.
type Options struct {
	TestProofs bool // circuits that Filecoin never registered
	Workers    int  // goroutines of one call; all processors if 0
}

// Circuit is the circuit that the request's proof is made for. It checks the registered proof and
// the sector size, which cost nothing.
func (r *Request) Circuit(o Options) (Circuit, error) {
	var size filecoin.SectorSize
	var valid, testOnly bool
	switch r.Kind {
	case filecoin.PoRep:
		p := filecoin.RegisteredSealProof(r.RegisteredProof)
		size, valid, testOnly = p.Size(), p.Valid(), p.TestOnly()
	case filecoin.Winning, filecoin.Window:
		p := filecoin.RegisteredPoStProof(r.RegisteredProof)
		size, valid, testOnly = p.Size(), p.Valid() && p.Kind() == r.Kind, p.TestOnly()
	case filecoin.Update:
		p := filecoin.RegisteredUpdateProof(r.RegisteredProof)
		size, valid, testOnly = p.Size(), p.Valid(), p.TestOnly()
	default:
		return Circuit{}, fmt.Errorf("%w: kind %d", ErrUnknownProof, r.Kind)
	}
	switch {
	case !valid:
		return Circuit{}, fmt.Errorf("%w: number %d is none of a %s proof", ErrUnknownProof, r.RegisteredProof, r.Kind)
	case testOnly && !o.TestProofs:
		return Circuit{}, fmt.Errorf("%w: number %d (%s sectors) is proved only where test circuits are allowed", ErrTestProof, r.RegisteredProof, size)
	case r.SectorSize != 0 && r.SectorSize != uint64(size):
		return Circuit{}, fmt.Errorf("%w: the request says %d bytes, registered proof %d is for %s", ErrSize, r.SectorSize, r.RegisteredProof, size)
	}
	return Circuit{r.Kind, size}, nil
}

// Open decodes a whole request.
func Open(ctx context.Context, r *Request, o Options) (*Job, error) { return open(ctx, r, o, -1) }

// OpenPartition decodes the part of a request that partition k needs: its Vanilla are those in the
// range that [Job.PartitionInputs] gives.
func OpenPartition(ctx context.Context, r *Request, o Options, k int) (*Job, error) {
	if k < 0 {
		return nil, fmt.Errorf("partition %d does not exist", k)
	}
	return open(ctx, r, o, k)
}

func open(ctx context.Context, r *Request, o Options, only int) (*Job, error) {
	c, err := r.Circuit(o)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j := &Job{circuit: c, options: o}
	switch r.Kind {
	case filecoin.PoRep:
		err = j.openPoRep(r)
	case filecoin.Update:
		err = j.openUpdate(r, only)
	default:
		err = j.openPoSt(ctx, r, only)
	}
	if err != nil {
		return nil, err
	}
	return j, nil
}
