package gateway

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/wire"
)

// Times of the reconciler.
const (
	// reconcileEvery is the pause between sweeps of the ledger.
	reconcileEvery = 10 * time.Second
	// settleTime is how long a record must have been still before the reconciler moves it: whoever changed it last may be at it.
	settleTime = 2 * bus.CriticalAckWait
	// lookAgain is the pause between looks at the queues for the same job.
	lookAgain = 30 * time.Second
	// looksPerSweep bounds the jobs whose messages are looked for in one sweep.
	looksPerSweep = 200
	// collectEvery is the pause between sweeps of the object stores, collectGrace the age of what they take away.
	collectEvery = 10 * time.Minute
	collectGrace = 15 * time.Minute
)

// reconcile sweeps the ledger at the start, then every reconcileEvery and when a deadline passes. It blocks until ctx ends.
func (s *Service) reconcile(ctx context.Context) error {
	looked := make(map[wire.JobKey]time.Time)
	collected := time.Now()
	for {
		if err := s.sweep(ctx, looked, time.Now()); err != nil && ctx.Err() == nil {
			s.host.Log.Warn("reconciler: sweep failed, it is tried again", "err", err)
		}
		if time.Since(collected) >= collectEvery {
			collected = time.Now()
			s.collect(ctx)
		}
		timer := time.NewTimer(s.expiry.wait(reconcileEvery))
		select {
		case <-timer.C:
		case <-s.expiry.sooner:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
		timer.Stop()
	}
}

// sweep looks at every job once.
func (s *Service) sweep(ctx context.Context, looked map[wire.JobKey]time.Time, now time.Time) error {
	budget := looksPerSweep
	seen := make(map[wire.JobKey]bool)
	s.expiry.reset()
	var due []*wire.JobRecord
	err := s.ledger.Each(ctx, func(r *wire.JobRecord) bool {
		seen[r.JobKey] = true
		if s.needsWork(r, looked, now, &budget) {
			due = append(due, r)
		}
		return true
	})
	for _, r := range due {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.mend(ctx, r, now); err != nil && ctx.Err() == nil {
			s.host.Log.WarnContext(ctx, "reconciler: job not mended, it is tried again", "job", r.ID.Short(), "err", err)
		}
	}
	if err == nil {
		for key := range looked {
			if !seen[key] {
				delete(looked, key)
			}
		}
	}
	return err
}

// needsWork reports whether a record is to be looked at closely.
func (s *Service) needsWork(r *wire.JobRecord, looked map[wire.JobKey]time.Time, now time.Time, budget *int) bool {
	if r.State.Ended() {
		return !s.concluded.has(r.JobKey, r.Run) || now.Sub(r.Updated.Time()) > bus.ResultAge
	}
	if r.Deadline.Passed(now) {
		return true
	}
	s.expiry.note(r.Deadline)
	if now.Sub(r.Updated.Time()) < settleTime || now.Sub(looked[r.JobKey]) < lookAgain || *budget == 0 {
		return false
	}
	*budget--
	looked[r.JobKey] = now
	return true
}

// mend moves on one job that nobody else moves.
func (s *Service) mend(ctx context.Context, r *wire.JobRecord, now time.Time) error {
	switch {
	case r.State.Ended() && now.Sub(r.Updated.Time()) > bus.ResultAge:
		s.concluded.remove(r.JobKey)
		return s.ledger.Forget(ctx, r.JobKey)
	case r.State.Ended():
		return s.clear(ctx, r)
	case r.Deadline.Passed(now):
		return s.end(ctx, r, wire.Expired, wire.Errorf(wire.CodeExpired, "the deadline %s passed with %d of %d partitions done",
			r.Deadline.Time().UTC().Format(time.RFC3339), r.Verified(), len(r.Partitions)))
	case r.State == wire.JobQueued, r.Verified() == len(r.Partitions):
		return s.resume(ctx, r)
	}
	// A gateway may have died between the result, which decides, and the ledger.
	result, err := s.conn.Result(ctx, r.JobKey)
	switch {
	case err == nil && result.Run == r.Run:
		return s.ledger.Follow(ctx, result)
	case err != nil && !errors.Is(err, wire.CodeNoSuchJob):
		return err
	}
	return s.mendPartitions(ctx, r)
}

// mendPartitions publishes partitions again of which no message is left. The record is read again after the queues, so that a
// partition on its way to the ledger is not taken for lost.
func (s *Service) mendPartitions(ctx context.Context, r *wire.JobRecord) error {
	lost, err := s.ledger.Lost(ctx, r, settleTime)
	if err != nil || len(lost) == 0 {
		return err
	}
	now, _, err := s.ledger.Get(ctx, r.JobKey)
	if err != nil {
		return err
	}
	if now.State.Ended() || now.Run != r.Run {
		return nil
	}
	for _, k := range lost {
		if now.Partitions[k].State == wire.PartitionVerified || now.Partitions[k].Attempt != r.Partitions[k].Attempt {
			continue
		}
		if err := s.retry(ctx, now, k, wire.Errorf(wire.CodeWorkerGone, "partition %d: its message is in no queue any more", k)); err != nil {
			return err
		}
	}
	return nil
}

// collect removes what killed writers left in the object stores.
func (s *Service) collect(ctx context.Context) {
	for _, store := range []interface {
		Bucket() string
		Collect(ctx context.Context, grace time.Duration, keep func(name string) bool) (int, error)
	}{s.conn.Inputs(), s.conn.Blobs()} {
		n, err := store.Collect(ctx, collectGrace, nil)
		if err != nil && ctx.Err() == nil {
			s.host.Log.Warn("collector: bucket not swept", "bucket", store.Bucket(), "err", err)
		}
		if n > 0 {
			s.host.Log.Info("collector: orphans removed", "bucket", store.Bucket(), "objects", n)
		}
	}
}

// expiry knows the nearest deadline of a job under way.
type expiry struct {
	sooner chan struct{} // receives when a nearer deadline is added

	mu   sync.Mutex
	next wire.Millis
}

func newExpiry() *expiry { return &expiry{sooner: make(chan struct{}, 1)} }

// reset forgets the deadline before a sweep notes all again.
func (e *expiry) reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.next = 0
}

// note takes a deadline into account; it reports whether it is the nearest.
func (e *expiry) note(deadline wire.Millis) bool {
	if deadline == 0 {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.next != 0 && e.next <= deadline {
		return false
	}
	e.next = deadline
	return true
}

// add is note, and wakes the reconciler.
func (e *expiry) add(deadline wire.Millis) {
	if !e.note(deadline) {
		return
	}
	select {
	case e.sooner <- struct{}{}:
	default:
	}
}

// wait is the time until the nearest deadline, at most limit.
func (e *expiry) wait(limit time.Duration) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.next == 0 {
		return limit
	}
	return min(limit, max(time.Until(e.next.Time()), time.Millisecond))
}
