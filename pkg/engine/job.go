package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"golang.org/x/sync/errgroup"

	"github.com/proofmill/proofmill/pkg/circuit"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/witness"
)

// statement is what is public of a request.
type statement interface {
	Validate() error
	Partitions() int
	PublicInputs(k int) ([]fr.Element, error)
}

// Job is an opened request: its statement and its vanilla proofs, whole or of one partition. It is
// immutable; its methods may be called by any number of goroutines.
type Job struct {
	circuit   Circuit
	options   Options
	statement statement
	sector    uint64 // of a PoRep
	first     int    // the partition that the vanilla proofs at hand begin with
	opened    int    // how many partitions they are of

	seal    *filecoin.SealCommit
	posts   []filecoin.PoStSectorProof
	updates []filecoin.UpdateProof
}

// Circuit is the circuit of the job's partitions.
func (j *Job) Circuit() Circuit { return j.circuit }

// Partitions is how many partition proofs the job needs. Of a window PoSt opened by OpenPartition it
// is only known that there are more than that partition's number.
func (j *Job) Partitions() int { return j.first + j.opened }

// PublicInputs are the public inputs of partition k, without the constant one.
func (j *Job) PublicInputs(k int) ([]fr.Element, error) {
	if err := j.has(k); err != nil {
		return nil, err
	}
	if _, ok := j.statement.(*filecoin.PoStStatement); ok {
		k -= j.first // its own statement begins with the first partition at hand
	}
	return j.statement.PublicInputs(k)
}

func (j *Job) has(k int) error {
	if k < j.first || k >= j.first+j.opened {
		return fmt.Errorf("partition %d is not at hand: partitions %d to %d are", k, j.first, j.first+j.opened-1)
	}
	return nil
}

// PartitionInputs is the half-open range of the request's vanilla proofs that partition k needs.
func (j *Job) PartitionInputs(k int) (from, to int) {
	return j.circuit.PartitionInputs(k, len(j.posts))
}

// Check walks the vanilla proofs of partition k: every path, every commitment, every challenge. The
// first that does not hold is a *filecoin.CheckError, which names sector and challenge.
func (j *Job) Check(ctx context.Context, k int) error {
	if err := j.has(k); err != nil {
		return err
	}
	switch st := j.statement.(type) {
	case *filecoin.SealStatement:
		if err := filecoin.CheckSealCommit(st, j.seal); err != nil {
			return err
		}
		return filecoin.CheckPoRepPartition(ctx, st, k, j.seal.Partitions[k])
	case *filecoin.UpdateStatement:
		return filecoin.CheckUpdatePartition(ctx, st, k, &j.updates[k-j.first])
	case *filecoin.PoStStatement:
		return j.eachSector(ctx, st, k-j.first, filecoin.CheckPoStSector)
	}
	return errors.New("job has no statement")
}

// Match is Check for a caller who makes the witness next: it leaves out what [Job.Witness] finds out itself, which is
// all paths of a PoSt, and half of its time.
func (j *Job) Match(ctx context.Context, k int) error {
	st, ok := j.statement.(*filecoin.PoStStatement)
	if !ok {
		return j.Check(ctx, k)
	}
	if err := j.has(k); err != nil {
		return err
	}
	return j.eachSector(ctx, st, k-j.first, filecoin.MatchPoStSector)
}

// eachSector checks the sectors of the k-th partition at hand.
func (j *Job) eachSector(ctx context.Context, st *filecoin.PoStStatement, k int,
	check func(ctx context.Context, st *filecoin.PoStStatement, k, i int, p *filecoin.PoStSectorProof) error) error {
	posts := j.partitionPosts(k)
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(j.workers())
	for i := range posts {
		if inner.Err() != nil {
			break
		}
		g.Go(func() error {
			err := check(inner, st, k, i, &posts[i])
			if failed, ok := errors.AsType[*filecoin.CheckError](err); ok {
				failed.Partition += j.first // the statement begins with the first partition at hand
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// partitionPosts are the vanilla proofs of the k-th partition at hand.
func (j *Job) partitionPosts(k int) []filecoin.PoStSectorProof {
	if j.circuit.Kind == filecoin.Winning {
		return j.posts
	}
	per := j.circuit.Size.WindowSectors()
	return j.posts[k*per : min((k+1)*per, len(j.posts))]
}

// Witness assigns the circuit, which sys must be, for partition k. Of a vanilla proof that does not lead to its
// commitments there is no witness: the error is that of [Job.Check].
func (j *Job) Witness(ctx context.Context, sys *System, k int) (*witness.Witness, error) {
	if err := j.has(k); err != nil {
		return nil, err
	}
	if sys.Circuit != j.circuit {
		return nil, fmt.Errorf("partition of circuit %s cannot be assigned to %s", j.circuit, sys.Circuit)
	}
	switch st := j.statement.(type) {
	case *filecoin.SealStatement:
		return circuit.AssignPoRep(ctx, sys.System, st, k, j.seal.Partitions[k], j.options.Workers)
	case *filecoin.UpdateStatement:
		return circuit.AssignUpdate(ctx, sys.System, st, k, &j.updates[k-j.first], j.options.Workers)
	case *filecoin.PoStStatement:
		w, err := circuit.AssignPoSt(ctx, j.circuit.Kind, j.circuit.Size, sys.System, j.partitionPosts(k-j.first), j.options.Workers)
		if err != nil {
			if why := j.Check(ctx, k); why != nil {
				return nil, why
			}
		}
		return w, err
	}
	return nil, errors.New("job has no statement")
}

func (j *Job) workers() int {
	if j.options.Workers > 0 {
		return j.options.Workers
	}
	return runtime.GOMAXPROCS(0)
}
