package gateway

import (
	"context"
	"errors"
	"time"

	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/telemetry"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/services/internal/stage"
)

// resultOf makes the result of a job that ends now.
func resultOf(record *wire.JobRecord, status wire.Status, reason *wire.Error) *wire.Result {
	r := &wire.Result{
		JobKey: record.JobKey, Run: record.Run, Kind: record.Statement.Kind, Circuit: record.Circuit, Label: record.Label,
		Submitted: record.Submitted, Finished: wire.MillisOf(time.Now()), Status: status, Error: reason,
	}
	for k := range record.Partitions {
		p := &record.Partitions[k]
		if p.State == wire.PartitionVerified {
			r.Partitions = append(r.Partitions, p.Timing)
		}
	}
	if r.Status == wire.Completed {
		for k := range record.Partitions {
			r.Proof = append(r.Proof, record.Partitions[k].Proof...)
		}
	}
	return r
}

// complete publishes the proof of a job all of whose partitions are verified.
func (s *Service) complete(ctx context.Context, record *wire.JobRecord) error {
	result := resultOf(record, wire.Completed, nil)
	c, err := engine.ParseCircuit(record.Circuit)
	if err != nil {
		return wire.Errorf(wire.CodeInternal, "job %s: %w", record.ID.Short(), err)
	}
	vk, err := s.keys.get(c)
	if err != nil {
		return err
	}
	result.VK = vk.SHA256
	return s.finish(ctx, record, result)
}

// end ends a job without a proof.
func (s *Service) end(ctx context.Context, record *wire.JobRecord, status wire.Status, reason *wire.Error) error {
	if record.State.Ended() {
		return s.resume(ctx, record)
	}
	return s.finish(ctx, record, resultOf(record, status, reason))
}

// finish ends a run with a result, unless it has one: then that one counts. What is left behind is cleared, and the trace is ended by
// the gateway whose result counts. All of it may be done again by anybody.
func (s *Service) finish(ctx context.Context, record *wire.JobRecord, result *wire.Result) error {
	begun := time.Now()
	under := underRequest(ctx, record)
	counts, err := s.ledger.End(under, result)
	if err != nil {
		return err
	}
	s.publics.drop(record.JobKey)
	if counts != result {
		return nil
	}
	(&telemetry.Completed{Name: stage.Result, Start: begun, End: time.Now()}).Emit(under, s.host.Timer.Tracer)
	s.endTrace(ctx, record, result)
	s.count(ctx, result)
	ended := *record
	ended.State = wire.StateOf(result.Status)
	s.progress(ctx, &ended)
	s.host.Log.InfoContext(telemetry.WithLogAttrs(under, jobAttr(record.JobKey)), "job ended", "status", result.Status.String(), "circuit", record.Circuit, "partitions", len(record.Partitions),
		"label", record.Label, "seconds", time.Since(record.Submitted.Time()).Seconds(), "err", result.Err())
	return nil
}

// clear removes what a job left behind whose gateway died after the job had ended. The request is the last of it.
func (s *Service) clear(ctx context.Context, record *wire.JobRecord) error {
	if s.concluded.has(record.JobKey, record.Run) {
		return nil
	}
	request, err := s.ledger.Request(ctx, record.JobKey)
	switch {
	case errors.Is(err, wire.CodeNoSuchJob), err == nil && request.Run != record.Run:
		s.concluded.add(record.JobKey, record.Run)
		return nil
	case err != nil:
		return err
	}
	s.dropObjects(ctx, request.Inputs.Objects, nil)
	if err := s.ledger.DropRequest(ctx, record.JobKey, record.Run); err != nil {
		return err
	}
	s.concluded.add(record.JobKey, record.Run)
	return nil
}
