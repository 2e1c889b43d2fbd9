package gpuprove

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/telemetry"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/pkg/witness"
	"github.com/proofmill/proofmill/services/internal/fault"
	"github.com/proofmill/proofmill/services/internal/stage"
)

// stageFetch is the service's own stage; the others are the backend's.
const stageFetch = "fetch"

// deleteTimeout bounds the removal of a blob that nobody needs any more.
const deleteTimeout = 10 * time.Second

// handle proves one partition. Its context carries the request's span.
func (s *Service) handle(ctx context.Context, d *bus.Delivery) error {
	job, err := d.ProveJob()
	if err != nil {
		return bus.Terminal(err)
	}
	under := stage.UnderPartition(ctx, &job.Task)
	s.host.Timer.Queued(under, d, &job.Task)
	s.progress(ctx, &job.Task, wire.PartitionProving)
	inner, work := s.host.Timer.Begin(under, "prove", &job.Task)
	done, err := s.prove(inner, job, work)
	work.End(err)
	switch {
	case ctx.Err() != nil:
		if errors.Is(context.Cause(ctx), bus.ErrStopped) {
			s.drop(ctx, job.Blob.Name)
		}
		return context.Cause(ctx)
	case errors.Is(err, wire.CodeBlobMissing), errors.Is(err, wire.CodeBlobCorrupt):
		// No worker can do better with this blob: the gateway has the partition made again.
		done = &wire.PartitionProof{Task: job.Task, Error: wire.AsError(err), Worker: s.host.Conn.Name()}
	case err != nil:
		return err
	}
	done.SynthWorker = job.Worker
	done.Stages = slices.Concat(job.Stages, work.Stages())
	if err := s.host.Conn.PublishDone(ctx, done); err != nil {
		return err
	}
	s.drop(ctx, job.Blob.Name)
	return nil
}

func (s *Service) prove(ctx context.Context, job *wire.ProveJob, work *stage.Work) (*wire.PartitionProof, error) {
	var blob []byte
	err := work.Do(ctx, stageFetch, func(ctx context.Context) (err error) {
		blob, err = s.host.Conn.Blobs().Get(ctx, job.Blob)
		return err
	})
	if err != nil {
		return nil, err
	}
	work.Set(telemetry.BytesKey.Int(len(blob)))
	header := witness.Header{Circuit: job.Task.Circuit, R1CS: job.R1CS, Partition: job.Task.Partition}
	if _, err := hex.Decode(header.Job[:], []byte(job.Task.ID)); err != nil {
		return nil, wire.Errorf(wire.CodeBadMessage, "job %s: its id is not hexadecimal: %w", job.Task.ID, err)
	}
	if err := matchHeader(blob, header); err != nil {
		return nil, err
	}
	proof, err := s.opts.Backend.Prove(ctx, &Work{Circuit: job.Task.Circuit, Header: header, Blob: blob}, work.Add)
	if err != nil {
		return nil, fault.Of(err, wire.CodeInternal)
	}
	if proof.Device != "" {
		work.Set(telemetry.GPUKey.String(proof.Device))
	}
	return &wire.PartitionProof{
		Task: job.Task, Proof: proof.Bytes, Worker: s.host.Conn.Name(), Device: proof.Device, VK: s.keys[job.Task.Circuit],
	}, nil
}

// matchHeader refuses a blob that is the witness of something else.
func matchHeader(blob []byte, want witness.Header) error {
	got, err := witness.DecodeHeader(blob)
	if err != nil {
		return wire.Errorf(wire.CodeBlobCorrupt, "%w", err)
	}
	if got != want {
		return wire.Errorf(wire.CodeBlobCorrupt, "witness blob is of circuit %s, job %x, partition %d, announced were %s, %x, %d",
			got.Circuit, got.Job[:6], got.Partition, want.Circuit, want.Job[:6], want.Partition)
	}
	return nil
}

// drop deletes a blob. What fails here is found by the collector.
func (s *Service) drop(ctx context.Context, name string) {
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
	defer cancel()
	if err := s.host.Conn.Blobs().Delete(clean, name); err != nil {
		s.host.Log.WarnContext(ctx, "witness blob not deleted, the collector will", "blob", name, "err", err)
	}
}

// progress tells people; nothing depends on it.
func (s *Service) progress(ctx context.Context, t *wire.Task, part wire.PartitionState) {
	err := s.host.Conn.PublishProgress(&wire.Progress{
		JobKey: t.JobKey, Run: t.Run, State: wire.JobRunning, Partition: t.Partition, Part: part, Attempt: t.Attempt, Stage: "prove",
		Total: t.Partitions, Worker: s.host.Conn.Name(),
	})
	if err != nil {
		s.host.Log.DebugContext(ctx, "progress not sent", "err", err)
	}
}
