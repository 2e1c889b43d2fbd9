package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/telemetry"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/services/internal/stage"
)

func jobAttr(key wire.JobKey) slog.Attr { return slog.String(telemetry.LogJob, key.ID.Short()) }

// handleDone takes what one attempt at a partition came to. The message is removed once the ledger has what follows from it.
func (s *Service) handleDone(ctx context.Context, d *bus.Delivery) error {
	p, err := d.PartitionProof()
	if err != nil {
		return bus.Terminal(err)
	}
	ctx = telemetry.WithLogAttrs(ctx, jobAttr(p.Task.JobKey), slog.Int(telemetry.LogPartition, int(p.Task.Partition)))
	record, _, err := s.ledger.Get(ctx, p.Task.JobKey)
	if errors.Is(err, wire.CodeNoSuchJob) {
		return nil
	}
	if err != nil {
		return err
	}
	k := int(p.Task.Partition)
	if record.Run != p.Task.Run || k >= len(record.Partitions) || record.Circuit != p.Task.Circuit {
		return nil // of an earlier run
	}
	part := &record.Partitions[k]
	switch {
	case record.State.Ended() || part.State == wire.PartitionVerified:
		return s.resume(ctx, record)
	case part.Attempt != p.Task.Attempt:
		// What a later attempt has replaced; it may be this message that raised it, in a gateway that died before it published.
		if part.Attempt == p.Task.Attempt+1 && part.State == wire.PartitionQueued {
			return s.republish(ctx, record, k)
		}
		return nil
	case p.Error != nil:
		return s.attemptFailed(ctx, record, k, p.Error)
	}
	under := stage.UnderPartition(underRequest(ctx, record), &p.Task)
	s.host.Timer.Queued(under, d, &p.Task)
	inner, work := s.host.Timer.Begin(under, stage.Verify, &p.Task)
	err = s.verify(inner, record, p)
	work.End(err)
	switch rejected := rejectionOf(err); {
	case err == nil:
		return s.accept(ctx, record, k, p)
	case ctx.Err() != nil:
		return err
	case rejected != nil:
		return s.rejectedProof(ctx, record, k, p, rejected)
	case wire.ClassOf(err) == wire.Terminal:
		// What to verify against cannot be derived any more, by anybody.
		return s.end(ctx, record, wire.Failed, wire.AsError(err))
	}
	return err
}

// verify checks a proof against what the gateway itself derives from the request. An error with code partition_rejected or
// parameters_foreign is the proof's fault.
func (s *Service) verify(ctx context.Context, record *wire.JobRecord, p *wire.PartitionProof) error {
	c, err := engine.ParseCircuit(record.Circuit)
	if err != nil {
		return wire.Errorf(wire.CodeInternal, "job %s: %w", record.ID.Short(), err)
	}
	vk, err := s.keys.get(c)
	if err != nil {
		// Another gateway has it: one admitted the request.
		return wire.Errorf(wire.CodeInternal, "this gateway cannot verify circuit %s: %s", c.ID(), err)
	}
	if p.VK != vk.SHA256 {
		return &rejection{wire.Errorf(wire.CodeParametersForeign, "worker %s proves circuit %s with verifying key %s, the gateway verifies with %s",
			p.Worker, c.ID(), p.VK, vk.SHA256).With("worker", p.Worker).With("circuit", c.ID())}
	}
	publics, err := s.publicsOf(ctx, record)
	if err != nil {
		return err
	}
	proof, err := groth16.ParseProof(p.Proof)
	if err == nil {
		err = s.verifier.verify(ctx, vk, proof, publics[p.Task.Partition])
	} else {
		err = fmt.Errorf("%w: %w", groth16.ErrInvalidProof, err)
	}
	if errors.Is(err, groth16.ErrInvalidProof) {
		return &rejection{wire.Errorf(wire.CodePartitionRejected, "partition %d, attempt %d, by worker %s: %w", p.Task.Partition, p.Task.Attempt, p.Worker, err).
			With("worker", p.Worker).With("device", p.Device)}
	}
	return err
}

// rejection is the error of a proof that does not hold, as opposed to one that could not be checked.
type rejection struct{ reason *wire.Error }

func (r *rejection) Error() string { return r.reason.Error() }
func (r *rejection) Unwrap() error { return r.reason }

func rejectionOf(err error) *wire.Error {
	if r, ok := errors.AsType[*rejection](err); ok {
		return r.reason
	}
	return nil
}

// rejectedProof has the partition made again once; a second rejection fails the job.
func (s *Service) rejectedProof(ctx context.Context, record *wire.JobRecord, k int, p *wire.PartitionProof, reason *wire.Error) error {
	s.rejected.Add(ctx, 1, metric.WithAttributes(telemetry.CircuitKey.String(record.Circuit), telemetry.WorkerKey.String(p.Worker)))
	s.host.Log.ErrorContext(ctx, "proof rejected", "circuit", record.Circuit, "worker", p.Worker, "device", p.Device, "attempt", p.Task.Attempt, "err", reason)
	if last := record.Partitions[k].LastError; last != nil && (last.Code == wire.CodePartitionRejected || last.Code == wire.CodeParametersForeign) {
		final := wire.Errorf(wire.CodeProofRejected, "partition %d: its proof did not verify, nor when it was made again: %w", k, reason)
		for name, value := range reason.Detail {
			final = final.With(name, value)
		}
		return s.end(ctx, record, wire.Failed, final)
	}
	return s.retry(ctx, record, k, reason)
}

// attemptFailed ends the job, or has the partition made again where that may help.
func (s *Service) attemptFailed(ctx context.Context, record *wire.JobRecord, k int, reason *wire.Error) error {
	switch {
	case reason.Code == wire.CodeExpired:
		return s.end(ctx, record, wire.Expired, reason)
	case reason.Class == wire.Terminal:
		return s.end(ctx, record, wire.Failed, reason)
	}
	return s.retry(ctx, record, k, reason)
}

// retry has a partition made again, or fails the job when that was tried often enough.
func (s *Service) retry(ctx context.Context, record *wire.JobRecord, k int, reason *wire.Error) error {
	err := s.again(ctx, record, k, reason)
	if errors.Is(err, wire.CodeAttemptsExhausted) {
		return s.end(ctx, record, wire.Failed, wire.AsError(err))
	}
	return err
}

// accept writes a verified proof into the ledger, and completes the job with the last one.
func (s *Service) accept(ctx context.Context, record *wire.JobRecord, k int, p *wire.PartitionProof) error {
	changed := false
	after, err := s.ledger.Update(ctx, record.JobKey, func(r *wire.JobRecord) error {
		changed = false
		if r.Run != record.Run || r.State.Ended() {
			return bus.ErrUnchanged
		}
		part := &r.Partitions[k]
		if part.State == wire.PartitionVerified || part.Attempt != p.Task.Attempt {
			return bus.ErrUnchanged
		}
		changed = true
		part.State, part.Proof = wire.PartitionVerified, p.Proof
		part.Timing = wire.PartitionTiming{
			Partition: p.Task.Partition, Attempt: p.Task.Attempt, SynthWorker: p.SynthWorker, ProveWorker: p.Worker, Device: p.Device, Stages: p.Stages,
		}
		return nil
	})
	if err != nil {
		return err
	}
	if changed {
		s.endPartition(ctx, after, k, time.Now(), nil)
		s.progress(ctx, after)
	}
	return s.resume(ctx, after)
}

// count adds a result to the metric.
func (s *Service) count(ctx context.Context, r *wire.Result) {
	attributes := []attribute.KeyValue{telemetry.KindKey.String(r.Kind.String()), attribute.String("status", r.Status.String())}
	if r.Error != nil {
		attributes = append(attributes, attribute.String("code", r.Error.Code.String()))
	}
	s.results.Add(ctx, 1, metric.WithAttributes(attributes...))
}
