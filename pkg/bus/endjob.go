package bus

import (
	"context"
	"errors"
	"time"

	"github.com/proofmill/proofmill/pkg/wire"
)

// End ends a run with a result, once however many gateways try, and returns the result that counts, which may be that of another.
// First the workers are told and the queued work is removed, then the result is stored, the ledger follows it, and the job's request
// and inputs are removed. In this order nothing of it can hit a new run, which begins once the end is known; if it is cut short
// before the result, the reconciler finds the partitions lost. A completed result needs all partitions verified in the ledger. End may
// be repeated after any interruption.
func (l *Ledger) End(ctx context.Context, r *wire.Result) (*wire.Result, error) {
	record, _, err := l.Get(ctx, r.JobKey)
	known := err == nil
	switch {
	case errors.Is(err, wire.CodeNoSuchJob) && r.Status != wire.Completed:
	case err != nil:
		return nil, err
	case r.Status == wire.Completed && record.Run == r.Run && record.Verified() != len(record.Partitions):
		// A result that counts cannot be taken back, so the condition of the ledger's edge is checked before.
		return nil, wire.Errorf(wire.CodeConflict, "job %s: completed with %d of %d partitions verified", r.ID.Short(), record.Verified(), len(record.Partitions))
	}
	if known && record.Run == r.Run && !record.State.Ended() {
		l.stopWork(ctx, r.JobKey)
	}
	counts, _, err := l.conn.PublishResult(ctx, r)
	if err != nil {
		return nil, err
	}
	return counts, l.follow(ctx, counts)
}

// Follow moves the ledger to the end that a stored result says, and cleans up after the job. It does nothing if the ledger is there
// already, is at a later run, or does not know the job. The reconciler calls it for records under way whose result is stored.
func (l *Ledger) Follow(ctx context.Context, r *wire.Result) error {
	record, _, err := l.Get(ctx, r.JobKey)
	if errors.Is(err, wire.CodeNoSuchJob) || err == nil && (record.Run != r.Run || record.State.Ended()) {
		return nil
	}
	if err != nil {
		return err
	}
	l.stopWork(ctx, r.JobKey)
	return l.follow(ctx, r)
}

func (l *Ledger) follow(ctx context.Context, r *wire.Result) error {
	var objects []wire.ObjectRef
	moved := false
	_, err := l.Update(ctx, r.JobKey, func(record *wire.JobRecord) error {
		moved = false
		if record.Run != r.Run || record.State.Ended() {
			return ErrUnchanged
		}
		record.State, record.Error = wire.StateOf(r.Status), r.Error
		objects, moved = record.Objects, true
		record.Objects = nil
		return nil
	})
	if errors.Is(err, wire.CodeNoSuchJob) {
		return nil
	}
	if err != nil || !moved {
		return err
	}
	l.note(r.JobKey, "request", l.DropRequest(ctx, r.JobKey, r.Run))
	inputs := l.conn.Inputs()
	for i := range objects {
		if objects[i].Bucket == inputs.Bucket() {
			l.note(r.JobKey, "inputs", inputs.Delete(ctx, objects[i].Name))
		}
	}
	return nil
}

// stopWork tells the workers of a job that ends, and removes what is queued.
func (l *Ledger) stopWork(ctx context.Context, key wire.JobKey) {
	l.note(key, "queues", l.conn.DropWork(ctx, key))
	l.note(key, "workers", l.conn.Stop(key))
}

// note logs what could not be cleaned up. The job ends all the same: workers ask the ledger, and objects and messages have an end of
// their own.
func (l *Ledger) note(key wire.JobKey, what string, err error) {
	if err != nil {
		l.conn.log.Warn("job ends, but not all is cleaned up", "job", key.ID.Short(), "what", what, "err", err)
	}
}

// Lost lists the partitions of a record under way that nobody works on: not verified, without change for quiet, and without a message
// in any queue. The reconciler raises their attempt by Update and publishes them again.
func (l *Ledger) Lost(ctx context.Context, record *wire.JobRecord, quiet time.Duration) ([]int, error) {
	if record.State.Ended() {
		return nil, nil
	}
	var lost []int
	limit := wire.MillisOf(time.Now().Add(-quiet))
	for i := range record.Partitions {
		p := &record.Partitions[i]
		if p.State == wire.PartitionVerified || p.Since > limit || record.Submitted > limit {
			continue
		}
		found, err := l.HasWork(ctx, record.JobKey, uint32(i))
		if err != nil {
			return nil, err
		}
		if !found {
			lost = append(lost, i)
		}
	}
	return lost, nil
}
