package gateway

import (
	"context"
	"fmt"
	"time"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/services/internal/inputs"
)

// taskOf is the task of a partition's present attempt.
func taskOf(record *wire.JobRecord, k int) *wire.Task {
	return &wire.Task{
		JobKey: record.JobKey, Run: record.Run, Kind: record.Statement.Kind, Circuit: record.Circuit,
		Partition: uint32(k), Partitions: uint32(len(record.Partitions)), Attempt: record.Partitions[k].Attempt, //nolint:gosec // at most wire.MaxPartitions
		Priority: record.Priority, Deadline: record.Deadline,
	}
}

// publish stores the synth jobs of some partitions, of the attempts that the record says, all or none. What is stored already is not
// stored again.
func (s *Service) publish(ctx context.Context, record *wire.JobRecord, request *wire.Request, partitions []int) error {
	c, err := engine.ParseCircuit(record.Circuit)
	if err != nil {
		return wire.Errorf(wire.CodeInternal, "job %s: %w", record.ID.Short(), err)
	}
	if err := s.conn.EnsureCircuits(ctx, record.Circuit); err != nil {
		return err
	}
	jobs := make([]*wire.SynthJob, 0, len(partitions))
	for _, k := range partitions {
		from, to := c.PartitionInputs(k, len(request.Inputs.List))
		if from >= to || to > len(request.Inputs.List) {
			return wire.Errorf(wire.CodeInternal, "job %s: partition %d has no inputs", record.ID.Short(), k)
		}
		jobs = append(jobs, &wire.SynthJob{Task: *taskOf(record, k), Statement: record.Statement, Inputs: inputs.Part(&request.Inputs, from, to)})
	}
	return s.conn.PublishSynth(underRequest(ctx, record), jobs)
}

// start publishes all partitions of a queued job and moves it to running. It may be done again at any time.
func (s *Service) start(ctx context.Context, record *wire.JobRecord, request *wire.Request) error {
	all := make([]int, len(record.Partitions))
	for k := range all {
		all[k] = k
	}
	if err := s.publish(ctx, record, request, all); err != nil {
		return err
	}
	running, err := s.ledger.Update(ctx, record.JobKey, func(r *wire.JobRecord) error {
		if r.Run != record.Run || r.State != wire.JobQueued {
			return bus.ErrUnchanged
		}
		r.State = wire.JobRunning
		return nil
	})
	if err != nil {
		return err
	}
	s.progress(ctx, running)
	return nil
}

// again has a partition made once more: a new attempt, for a reason, of which what the present one still sends is dropped. It changes
// nothing if the partition has moved on meanwhile. After too many attempts it returns an error with code attempts_exhausted.
func (s *Service) again(ctx context.Context, record *wire.JobRecord, k int, reason *wire.Error) error {
	attempt := record.Partitions[k].Attempt
	raised := false
	next, err := s.ledger.Update(ctx, record.JobKey, func(r *wire.JobRecord) error {
		raised = false
		if r.Run != record.Run || r.State.Ended() {
			return bus.ErrUnchanged
		}
		p := &r.Partitions[k]
		if p.State == wire.PartitionVerified || p.Attempt != attempt {
			return bus.ErrUnchanged
		}
		if int(attempt) >= s.opts.MaxAttempts {
			return wire.Errorf(wire.CodeAttemptsExhausted, "partition %d failed %d times, the last time: %w", k, attempt, reason)
		}
		p.State, p.Attempt, p.LastError, p.Since = wire.PartitionQueued, attempt+1, reason, wire.MillisOf(time.Now())
		raised = true
		return nil
	})
	if err != nil || !raised {
		return err
	}
	s.host.Log.WarnContext(ctx, "partition is made again", "job", record.ID.Short(), "partition", k, "attempt", attempt+1, "reason", reason)
	return s.republish(ctx, next, k)
}

// republish stores the synth job of a partition's present attempt, if it is not stored.
func (s *Service) republish(ctx context.Context, record *wire.JobRecord, k int) error {
	request, err := s.ledger.Request(ctx, record.JobKey)
	if err != nil {
		return fmt.Errorf("partition %d: %w", k, err)
	}
	return s.publish(ctx, record, request, []int{k})
}

// progress tells people where a job is; nothing depends on it.
func (s *Service) progress(ctx context.Context, record *wire.JobRecord) {
	err := s.conn.PublishProgress(&wire.Progress{
		JobKey: record.JobKey, Run: record.Run, State: record.State,
		Done: uint32(record.Verified()), Total: uint32(len(record.Partitions)), //nolint:gosec // at most wire.MaxPartitions
		Worker: s.conn.Name(), At: wire.MillisOf(time.Now()),
	})
	if err != nil {
		s.host.Log.DebugContext(ctx, "progress not sent", "err", err)
	}
}
