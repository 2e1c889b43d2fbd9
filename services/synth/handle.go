package synth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/bus/objects"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/telemetry"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/pkg/witness"
	"github.com/proofmill/proofmill/services/internal/fault"
	"github.com/proofmill/proofmill/services/internal/inputs"
	"github.com/proofmill/proofmill/services/internal/stage"
)

// Names of the stages.
const (
	stageDecode  = "decode"
	stageCheck   = "check"
	stageCircuit = "circuit" // only where the circuit was not built yet
	stageWitness = "witness"
	stageStore   = "store"
)

// decodedFactor is how much larger decoded inputs are than their bytes, roughly.
const decodedFactor = 2

// blobs is where witnesses go.
type blobs interface {
	Put(ctx context.Context, name string, r io.ReaderAt, size int64) (wire.ObjectRef, error)
	Delete(ctx context.Context, name string) error
	Limit(ctx context.Context) (int64, error)
}

// handle makes the witness of one partition. Its context carries the request's span.
func (s *Service) handle(ctx context.Context, d *bus.Delivery) error {
	job, err := d.SynthJob()
	if err != nil {
		return bus.Terminal(err)
	}
	under := stage.UnderPartition(ctx, &job.Task)
	s.host.Timer.Queued(under, d, &job.Task)
	s.progress(ctx, &job.Task, wire.PartitionSynthesizing)
	inner, work := s.host.Timer.Begin(under, "synth", &job.Task)
	err = s.synthesize(ctx, inner, job, work)
	work.End(err)
	if err == nil {
		s.progress(ctx, &job.Task, wire.PartitionReady)
	}
	return err
}

// synthesize gets two contexts: ctx under the request's span, which the prove job travels with, and inner under the work's.
func (s *Service) synthesize(ctx, inner context.Context, job *wire.SynthJob, work *stage.Work) error {
	k := int(job.Task.Partition)
	var opened *engine.Job
	err := work.Do(inner, stageDecode, func(ctx context.Context) (err error) {
		opened, err = s.open(ctx, job)
		return err
	})
	if err != nil {
		return err
	}
	if id := opened.Circuit().ID(); id != job.Task.Circuit {
		return wire.Errorf(wire.CodeBadMessage, "synth job of %s: its statement is of circuit %s", job.Task.Circuit, id)
	}
	if err := work.Do(inner, stageCheck, func(ctx context.Context) error { return opened.Match(ctx, k) }); err != nil {
		return fault.Of(err, wire.CodeBadVanillaProof)
	}
	start := time.Now()
	sys, err := s.opts.Systems.Get(inner, opened.Circuit())
	if err != nil {
		return fault.Of(err, wire.CodeInternal)
	}
	if took := time.Since(start); took > time.Millisecond {
		work.Add(stageCircuit, start, took)
	}
	work.Set(telemetry.ConstraintsKey.Int(sys.NumConstraints))
	var blob []byte
	err = work.Do(inner, stageWitness, func(ctx context.Context) (err error) {
		blob, err = encode(ctx, opened, sys, &job.Task)
		return err
	})
	if err != nil {
		return err
	}
	work.Set(telemetry.BytesKey.Int(len(blob)))
	publics, err := publicsDigest(opened, k)
	if err != nil {
		return err
	}
	var ref wire.ObjectRef
	err = work.Do(inner, stageStore, func(ctx context.Context) (err error) {
		ref, err = s.store(ctx, blob)
		return err
	})
	if err != nil {
		return err
	}
	prove := &wire.ProveJob{Task: job.Task, Blob: ref, R1CS: sys.R1CS, Publics: publics, Worker: s.host.Conn.Name(), Stages: work.Stages()}
	if err := s.host.Conn.PublishProve(ctx, prove); err != nil {
		// Nobody will ask for the blob, or whoever does has the partition made again.
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return errors.Join(err, s.blobs.Delete(clean, ref.Name))
	}
	return nil
}

// open decodes what the partition needs. The C1 output of a PoRep is the same for all its partitions and is kept.
func (s *Service) open(ctx context.Context, job *wire.SynthJob) (*engine.Job, error) {
	open := func(ctx context.Context) (*engine.Job, error) {
		r := inputs.Statement(&job.Statement)
		var err error
		if r.Vanilla, err = inputs.Fetch(ctx, s.host.Conn.Inputs(), &job.Inputs); err != nil {
			return nil, err
		}
		opened, err := engine.OpenPartition(ctx, r, engine.Options{TestProofs: s.opts.TestProofs, Workers: s.opts.Workers}, int(job.Task.Partition))
		return opened, fault.Of(err, wire.CodeBadInput)
	}
	if job.Task.Kind != wire.KindPoRep {
		return open(ctx)
	}
	var size int64
	for i := range job.Inputs.List {
		size += int64(job.Inputs.List[i].Size) //nolint:gosec // validated
	}
	return s.opened.get(ctx, wire.ContentID(&job.Statement, job.Inputs.List), decodedFactor*size, open)
}

func encode(ctx context.Context, opened *engine.Job, sys *engine.System, t *wire.Task) ([]byte, error) {
	w, err := opened.Witness(ctx, sys, int(t.Partition))
	if err != nil {
		return nil, fault.Of(fmt.Errorf("job %s, partition %d: witness: %w", t.ID.Short(), t.Partition, err), wire.CodeInternal)
	}
	header := witness.Header{Circuit: t.Circuit, R1CS: sys.R1CS, Partition: t.Partition}
	if _, err := hex.Decode(header.Job[:], []byte(t.ID)); err != nil {
		return nil, wire.Errorf(wire.CodeBadMessage, "job %s: its id is not hexadecimal: %w", t.ID, err)
	}
	return witness.Encode(header, w)
}

// publicsDigest is the SHA-256 of the public inputs, each as 32 bytes little-endian.
func publicsDigest(opened *engine.Job, k int) (wire.Digest, error) {
	publics, err := opened.PublicInputs(k)
	if err != nil {
		return wire.Digest{}, fmt.Errorf("public inputs: %w", err)
	}
	h := sha256.New()
	var b [fr.Bytes]byte
	for i := range publics {
		fr.LittleEndian.PutElement(&b, publics[i])
		h.Write(b[:])
	}
	return wire.Digest(h.Sum(nil)), nil
}

// store puts the blob. A full bucket is waited for, with the message in hand: provers empty it. One in which the blob never fits ends
// the job.
func (s *Service) store(ctx context.Context, blob []byte) (wire.ObjectRef, error) {
	for pause := time.Second; ; pause = min(2*pause, 10*time.Second) {
		ref, err := s.blobs.Put(ctx, objects.NewName("witness"), bytes.NewReader(blob), int64(len(blob)))
		if !errors.Is(err, wire.CodeStorageFull) {
			return ref, err
		}
		if limit, lerr := s.blobs.Limit(ctx); lerr == nil && limit > 0 && int64(len(blob)) > limit {
			return ref, bus.Terminal(wire.Errorf(wire.CodeStorageFull, "witness of %d bytes never fits in the bucket of %d: raise service.blob-limit: %w", len(blob), limit, err))
		}
		s.host.Log.WarnContext(ctx, "no room for a witness, waiting", "bytes", len(blob), "err", err)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return wire.ObjectRef{}, errors.Join(err, ctx.Err())
		}
	}
}

// progress tells people; nothing depends on it.
func (s *Service) progress(ctx context.Context, t *wire.Task, part wire.PartitionState) {
	err := s.host.Conn.PublishProgress(&wire.Progress{
		JobKey: t.JobKey, Run: t.Run, State: wire.JobRunning, Partition: t.Partition, Part: part, Attempt: t.Attempt, Stage: "synth",
		Total: t.Partitions, Worker: s.host.Conn.Name(),
	})
	if err != nil {
		s.host.Log.DebugContext(ctx, "progress not sent", "err", err)
	}
}
