package gateway

import (
	"context"
	"errors"
	"time"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/telemetry"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/services/internal/host"
)

// handleRequest admits one request. Whatever the message holds, it ends with a job under way, a stored result, or the message going
// back to be read again.
func (s *Service) handleRequest(ctx context.Context, d *bus.Delivery) error {
	request, err := d.Request()
	if err == nil && request.Priority != d.Address.Priority {
		err = wire.Errorf(wire.CodeBadRequest, "request: its priority is %s, it was sent as %s", request.Priority, d.Address.Priority)
	}
	if err != nil {
		return s.refuse(ctx, d, nil, err)
	}
	ctx = telemetry.WithLogAttrs(ctx, jobAttr(d.Address.Key))
	known, err := s.attach(ctx, request)
	if err != nil || known {
		return s.given(ctx, d, request, err)
	}
	if request.Deadline.Passed(time.Now()) {
		return s.refuse(ctx, d, request, wire.Errorf(wire.CodeExpired, "the deadline %s passed before the request was read",
			request.Deadline.Time().UTC().Format(time.RFC3339)))
	}
	ctx, kept := s.beginTrace(ctx)
	begun := time.Now()
	c, publics, err := s.open(ctx, request)
	if err == nil {
		err = s.admit(ctx, d, request, c, publics, kept)
	}
	(&telemetry.Completed{Name: "admit", Start: begun, End: time.Now(), Err: err}).Emit(ctx, s.host.Timer.Tracer)
	return s.given(ctx, d, request, err)
}

// given decides about an error of admission: what can never succeed, or did not as often as it may, becomes the result.
func (s *Service) given(ctx context.Context, d *bus.Delivery, request *wire.Request, err error) error {
	err = host.Outcome(d.Context(), err)
	switch {
	case err == nil || d.Context().Err() != nil:
		return err
	case wire.ClassOf(err) == wire.Terminal:
		return s.refuse(ctx, d, request, err)
	case d.Delivered >= bus.MaxDeliver:
		return s.refuse(ctx, d, request, wire.Errorf(wire.CodeAttemptsExhausted, "the request could not be admitted in %d tries, the last time: %w", d.Delivered, err))
	}
	return err
}

// refuse publishes the failed result of a request that never became a job.
func (s *Service) refuse(ctx context.Context, d *bus.Delivery, request *wire.Request, reason error) error {
	result := &wire.Result{
		JobKey: d.Address.Key, Status: wire.Failed, Error: wire.AsError(reason),
		Submitted: wire.MillisOf(d.Stored), Finished: wire.MillisOf(time.Now()),
	}
	if request != nil {
		result.Kind, result.Label, result.Run = request.Statement.Kind, request.Label, request.Run
	} else {
		var err error
		if result.Run, err = s.runOfUnread(ctx, d); err != nil {
			return err
		}
		if result.Run == 0 {
			s.host.Log.WarnContext(ctx, "unreadable request dropped: its job is under way", "job", d.Address.Key.ID.Short(), "account", d.Address.Key.Account, "err", reason)
			return nil
		}
	}
	if errors.Is(reason, wire.CodeExpired) && request != nil {
		result.Status = wire.Expired
	}
	s.host.Log.InfoContext(ctx, "request refused", "job", d.Address.Key.ID.Short(), "account", d.Address.Key.Account, "label", result.Label, "err", reason)
	if _, first, err := s.conn.PublishResult(ctx, result); err != nil {
		return err
	} else if first {
		s.count(ctx, result)
	}
	if request != nil {
		s.dropObjects(ctx, request.Inputs.Objects, nil)
	}
	return nil
}

// runOfUnread is the run that a message ends of which nothing but the subject and headers can be trusted: what the header says, but at
// most the next one. It is 0 while the job is under way: whoever sent the message gets that one's result, and does not end it.
func (s *Service) runOfUnread(ctx context.Context, d *bus.Delivery) (uint32, error) {
	last := uint32(0)
	record, _, err := s.ledger.Get(ctx, d.Address.Key)
	switch {
	case err == nil && !record.State.Ended():
		return 0, nil
	case err == nil:
		last = record.Run
	case !errors.Is(err, wire.CodeNoSuchJob):
		return 0, err
	}
	result, err := s.conn.Result(ctx, d.Address.Key)
	if err == nil {
		last = max(last, result.Run)
	} else if !errors.Is(err, wire.CodeNoSuchJob) {
		return 0, err
	}
	return min(d.Run(), last+1), nil
}

// attach finds out whether the request's run is under way or has ended already, and if so moves on what a gateway left undone that
// died.
func (s *Service) attach(ctx context.Context, request *wire.Request) (known bool, err error) {
	record, _, err := s.ledger.Get(ctx, request.Key())
	if err != nil && !errors.Is(err, wire.CodeNoSuchJob) {
		return false, err
	}
	if record != nil && record.Run >= request.Run {
		s.dropObjects(ctx, request.Inputs.Objects, record.Objects)
		return true, s.resume(ctx, record)
	}
	result, err := s.conn.Result(ctx, request.Key())
	switch {
	case err != nil && !errors.Is(err, wire.CodeNoSuchJob):
		return false, err
	case result != nil && result.Run >= request.Run: // refused already
		return true, nil
	case record == nil || record.State.Ended():
		return false, nil
	case result == nil || result.Run < record.Run:
		// A run begins after the result of the one before it, so this is not from a client that follows the protocol.
		s.host.Log.WarnContext(ctx, "request dropped: the run before it is under way", "run", request.Run, "under_way", record.Run)
		return true, nil
	}
	// The sender has seen the end of the run before, but the gateway that stored it has not brought it to the ledger yet.
	return false, s.ledger.Follow(ctx, result)
}

// resume does what follows from a record's state and may not have been done.
func (s *Service) resume(ctx context.Context, record *wire.JobRecord) error {
	switch {
	case record.State.Ended():
		return s.clear(ctx, record)
	case record.Verified() == len(record.Partitions):
		return s.complete(ctx, record)
	case record.State == wire.JobQueued:
		stored, err := s.ledger.Request(ctx, record.JobKey)
		if err != nil {
			return err
		}
		return s.start(ctx, record, stored)
	}
	return nil
}

// admit writes the job into the ledger and publishes its partitions.
func (s *Service) admit(ctx context.Context, d *bus.Delivery, request *wire.Request, c engine.Circuit, publics [][]fr.Element, kept map[string]string) error {
	now := wire.MillisOf(time.Now())
	markAdmitted(kept, now)
	record := &wire.JobRecord{
		JobKey: request.Key(), Run: request.Run, Statement: request.Statement, Circuit: c.ID(), Label: request.Label,
		Priority: request.Priority, Deadline: request.Deadline, State: wire.JobQueued, Submitted: min(wire.MillisOf(d.Stored), now),
		Objects: request.Inputs.Objects, Trace: kept, Partitions: make([]wire.PartitionRecord, len(publics)),
	}
	for k := range record.Partitions {
		record.Partitions[k] = wire.PartitionRecord{State: wire.PartitionQueued, Attempt: 1, Since: now}
	}
	current, admitted, err := s.ledger.Admit(ctx, request, record)
	if err != nil {
		return err
	}
	if !admitted {
		// Another gateway was faster with the same content.
		s.dropObjects(ctx, request.Inputs.Objects, current.Objects)
		return s.resume(ctx, current)
	}
	s.publics.put(record.JobKey, publics)
	s.expiry.add(record.Deadline)
	s.host.Log.InfoContext(ctx, "job admitted", "circuit", record.Circuit, "partitions", len(publics), "priority", record.Priority.String(), "label", record.Label)
	return s.start(ctx, record, request)
}

// dropObjects deletes a request's objects, but for those that a job in the ledger has as its own. What fails is collected later.
func (s *Service) dropObjects(ctx context.Context, refs, keep []wire.ObjectRef) {
	kept := make(map[string]bool, len(keep))
	for i := range keep {
		kept[keep[i].Name] = true
	}
	store := s.conn.Inputs()
	for i := range refs {
		if refs[i].Bucket != store.Bucket() || kept[refs[i].Name] {
			continue
		}
		if err := store.Delete(ctx, refs[i].Name); err != nil {
			s.host.Log.WarnContext(ctx, "input not deleted, the collector will", "object", refs[i].Name, "err", err)
		}
	}
}
