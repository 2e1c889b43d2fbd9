package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/proofmill/proofmill/pkg/wire"
)

// ErrUnchanged is returned by the function given to Update when nothing has to be written.
var ErrUnchanged = errors.New("unchanged")

// markerAge is how long the marker of a removed key is kept, for those who watch.
const markerAge = time.Hour

// Ledger is the truth about jobs: one record per job, changed only by compare-and-set along the edges of the state machine
// (wire.CheckEdge), with the encoded request beside it. Only gateways write; workers and status pages read.
type Ledger struct {
	conn     *Conn
	jobs     jetstream.KeyValue
	requests jetstream.KeyValue
}

// OpenLedger gives access to the ledger, which Setup has created.
func (c *Conn) OpenLedger(ctx context.Context) (*Ledger, error) {
	jobs, err := c.js.KeyValue(ctx, c.names.BucketJobs())
	if err != nil {
		return nil, classify(fmt.Errorf("ledger: bucket %s: start a gateway first: %w", c.names.BucketJobs(), err))
	}
	requests, err := c.js.KeyValue(ctx, c.names.BucketRequests())
	if err != nil {
		return nil, classify(fmt.Errorf("ledger: bucket %s: start a gateway first: %w", c.names.BucketRequests(), err))
	}
	return &Ledger{conn: c, jobs: jobs, requests: requests}, nil
}

// Get reads a job's record and its revision. An unknown job is an error with code no_such_job.
func (l *Ledger) Get(ctx context.Context, key wire.JobKey) (*wire.JobRecord, uint64, error) {
	entry, err := l.jobs.Get(ctx, key.String())
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) {
		return nil, 0, wire.Errorf(wire.CodeNoSuchJob, "job %s: not in the ledger", key.ID.Short())
	}
	if err != nil {
		return nil, 0, classify(fmt.Errorf("ledger: job %s: %w", key.ID.Short(), err))
	}
	record := new(wire.JobRecord)
	if err := wire.Decode(entry.Value(), record); err != nil {
		return nil, 0, fmt.Errorf("ledger: job %s: %w", key.ID.Short(), err)
	}
	return record, entry.Revision(), nil
}

// Admit begins a run: it stores the request, then creates the record, which must be queued and of run request.Run, or moves the
// record of an ended earlier run to it. If the job is under way already, or this run has ended, the ledger is not changed and Admit
// returns the record that is there with admitted false. Several gateways may admit the same request: one of them does.
func (l *Ledger) Admit(ctx context.Context, request *wire.Request, record *wire.JobRecord) (current *wire.JobRecord, admitted bool, err error) {
	key := record.JobKey
	for {
		existing, revision, err := l.Get(ctx, key)
		if err != nil && !errors.Is(err, wire.CodeNoSuchJob) {
			return nil, false, err
		}
		if existing != nil && (!existing.State.Ended() || existing.Run >= record.Run) {
			return existing, false, nil
		}
		if existing != nil {
			if err := wire.CheckEdge(existing, record); err != nil {
				return nil, false, err
			}
		}
		// Last writer wins here, which is harmless: the content is the same, and inputs stored for the other copy live as long.
		data, err := wire.Encode(request)
		if err != nil {
			return nil, false, err
		}
		if _, err := l.requests.Put(ctx, key.String(), data); err != nil {
			return nil, false, classify(fmt.Errorf("ledger: request of job %s: %w", key.ID.Short(), err))
		}
		record.Updated = wire.MillisOf(time.Now())
		if data, err = wire.Encode(record); err != nil {
			return nil, false, err
		}
		if existing == nil {
			_, err = l.jobs.Create(ctx, key.String(), data)
		} else {
			_, err = l.jobs.Update(ctx, key.String(), data, revision)
		}
		if err == nil {
			return record, true, nil
		}
		if !lostRace(err) {
			return nil, false, classify(fmt.Errorf("ledger: job %s: %w", key.ID.Short(), err))
		}
	}
}

// Update reads the record, lets change modify it, and writes it back if nobody else did in between; else it begins again, so change
// may run several times and must not have other effects. A change against the state machine is an error with code conflict. If
// change returns ErrUnchanged nothing is written and the record is returned without error; any other error is returned.
func (l *Ledger) Update(ctx context.Context, key wire.JobKey, change func(r *wire.JobRecord) error) (*wire.JobRecord, error) {
	for {
		record, revision, err := l.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		before := *record
		before.Partitions = append([]wire.PartitionRecord(nil), record.Partitions...)
		if err := change(record); errors.Is(err, ErrUnchanged) {
			return record, nil
		} else if err != nil {
			return nil, err
		}
		if err := wire.CheckEdge(&before, record); err != nil {
			return nil, err
		}
		record.Updated = wire.MillisOf(time.Now())
		data, err := wire.Encode(record)
		if err != nil {
			return nil, err
		}
		if _, err = l.jobs.Update(ctx, key.String(), data, revision); err == nil {
			return record, nil
		}
		if !lostRace(err) {
			return nil, classify(fmt.Errorf("ledger: job %s: %w", key.ID.Short(), err))
		}
	}
}

// lostRace reports whether somebody else wrote first.
func lostRace(err error) bool {
	return errors.Is(err, jetstream.ErrKeyExists) || apiCode(err) == codeWrongLastSequence
}

// Request reads the request of a job.
func (l *Ledger) Request(ctx context.Context, key wire.JobKey) (*wire.Request, error) {
	entry, err := l.requests.Get(ctx, key.String())
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, wire.Errorf(wire.CodeNoSuchJob, "job %s: its request is not in the ledger", key.ID.Short())
	}
	if err != nil {
		return nil, classify(fmt.Errorf("ledger: request of job %s: %w", key.ID.Short(), err))
	}
	request := new(wire.Request)
	if err := wire.Decode(entry.Value(), request); err != nil {
		return nil, fmt.Errorf("ledger: request of job %s: %w", key.ID.Short(), err)
	}
	return request, nil
}

// DropRequest removes the request of a run that has ended; the record stays until Forget. The request of another run is left alone,
// as a new one may begin as soon as the end of this one is known.
func (l *Ledger) DropRequest(ctx context.Context, key wire.JobKey, run uint32) error {
	entry, err := l.requests.Get(ctx, key.String())
	if err != nil {
		return ignoreAbsent(err)
	}
	request := new(wire.Request)
	if wire.Decode(entry.Value(), request) == nil && request.Run != run {
		return nil
	}
	err = l.requests.Purge(ctx, key.String(), jetstream.LastRevision(entry.Revision()), jetstream.PurgeTTL(markerAge))
	if lostRace(err) {
		return nil
	}
	return ignoreAbsent(err)
}

// Forget removes a job that has ended from the ledger. One that is under way is an error with code conflict.
func (l *Ledger) Forget(ctx context.Context, key wire.JobKey) error {
	record, revision, err := l.Get(ctx, key)
	if errors.Is(err, wire.CodeNoSuchJob) {
		return nil
	}
	if err != nil {
		return err
	}
	if !record.State.Ended() {
		return wire.Errorf(wire.CodeConflict, "job %s: it is %s and may not be forgotten", key.ID.Short(), record.State)
	}
	if err := l.DropRequest(ctx, key, record.Run); err != nil {
		return err
	}
	return ignoreAbsent(l.jobs.Purge(ctx, key.String(), jetstream.LastRevision(revision), jetstream.PurgeTTL(markerAge)))
}

func ignoreAbsent(err error) error {
	if err == nil || errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil
	}
	return classify(fmt.Errorf("ledger: %w", err))
}

// Each calls visit for every job in the ledger, in no order, one record in memory at a time; visit returns false to stop. Records
// that cannot be read are reported to the log and left out.
func (l *Ledger) Each(ctx context.Context, visit func(r *wire.JobRecord) bool) error {
	watcher, err := l.jobs.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return classify(fmt.Errorf("ledger: list: %w", err))
	}
	defer func() { _ = watcher.Stop() }() // fails only on a closed connection
	for {
		select {
		case entry, ok := <-watcher.Updates():
			if !ok || entry == nil { // nil marks the end of what was there
				return ctx.Err()
			}
			record := new(wire.JobRecord)
			if err := wire.Decode(entry.Value(), record); err != nil {
				l.conn.log.Error("ledger: record not read", "key", entry.Key(), "err", err)
				continue
			}
			if !visit(record) {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// HasWork reports whether a message about the partition lies in one of the queues of partitions, delivered or not. The reconciler
// asks it before it publishes a partition again.
func (l *Ledger) HasWork(ctx context.Context, key wire.JobKey, partition uint32) (bool, error) {
	for _, w := range []wire.Work{wire.WorkSynth, wire.WorkProve, wire.WorkDone} {
		found, err := l.conn.has(ctx, w, l.conn.names.TaskAny(w, key, partition))
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

func (c *Conn) has(ctx context.Context, w wire.Work, subject string) (bool, error) {
	stream, err := c.js.Stream(ctx, c.names.Stream(w))
	if err != nil {
		return false, classify(err)
	}
	_, err = stream.GetMsg(ctx, 0, jetstream.WithGetMsgSubject(subject))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return false, nil
	}
	if err != nil {
		return false, classify(err)
	}
	return true, nil
}

// DropWork removes what the queues hold about a job that has ended. Messages in hand are told to their workers by Stop.
func (c *Conn) DropWork(ctx context.Context, key wire.JobKey) error {
	for _, w := range []wire.Work{wire.WorkSynth, wire.WorkProve, wire.WorkDone} {
		stream, err := c.js.Stream(ctx, c.names.Stream(w))
		if err != nil {
			return classify(err)
		}
		if err := stream.Purge(ctx, jetstream.WithPurgeSubject(c.names.JobAny(w, key))); err != nil {
			return classify(fmt.Errorf("queue %s: remove job %s: %w", w, key.ID.Short(), err))
		}
	}
	return nil
}
