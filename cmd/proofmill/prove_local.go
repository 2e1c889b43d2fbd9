package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel/trace"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/progress"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/telemetry"
	"github.com/proofmill/proofmill/pkg/wire"
)

// proveLocally makes the proof in this process, by the same steps as the services, one partition after the other.
func proveLocally(command *cobra.Command, a *app, r *engine.Request, p *proveFlags) (*proveReport, []telemetry.Span, error) {
	ctx := command.Context()
	if p.deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.deadline, wire.Errorf(wire.CodeExpired, "the deadline of %s passed before the proof was made", p.deadline))
		defer cancel()
	}
	tracer := a.telemetry.TracerProvider().Tracer("github.com/proofmill/proofmill/cmd/proofmill")
	ctx, root := tracer.Start(ctx, "request")
	l := &localProver{a: a, tracer: tracer}
	report, err := l.prove(ctx, r)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, wire.CodeExpired) {
		err = cause
	}
	root.End()
	return report, a.telemetry.Recorder().Spans(root.SpanContext().TraceID()), err
}

type localProver struct {
	a      *app
	tracer trace.Tracer
}

// stage runs f as a span.
func (l *localProver) stage(ctx context.Context, name string, f func(ctx context.Context) error) error {
	ctx, span := l.tracer.Start(ctx, name)
	defer span.End()
	return f(ctx)
}

func (l *localProver) prove(ctx context.Context, r *engine.Request) (*proveReport, error) {
	var job *engine.Job
	var sys *engine.System
	var key *groth16.PreparedVerifyingKey
	var prover *groth16.Prover
	err := l.stage(ctx, "decode", func(ctx context.Context) (err error) {
		job, err = engine.Open(ctx, r, engine.Options{TestProofs: l.a.params.Test})
		return badInput(err)
	})
	if err != nil {
		return nil, err
	}
	// Parameters are opened before the circuit is built: what is missing shows at once.
	err = l.stage(ctx, "load key", func(ctx context.Context) (err error) {
		if key, err = l.a.params.verifyingKey(job.Circuit(), ""); err != nil {
			return err
		}
		sys, prover, err = l.load(ctx, job.Circuit())
		return err
	})
	if err != nil {
		return nil, err
	}
	group := progress.Start(l.a.stderr, l.a.logs)
	defer group.Close()
	work := group.Add(kindTitles[r.Kind], int64(job.Partitions()), progress.Items)
	report := &proveReport{Circuit: job.Circuit().ID(), Partitions: job.Partitions()}
	for k := range job.Partitions() {
		proof, err := l.partition(ctx, job, sys, prover, key, k)
		if err != nil {
			work.Fail(err)
			return nil, fmt.Errorf("partition %d: %w", k, err)
		}
		b := proof.Bytes()
		report.Proof += hex.EncodeToString(b[:])
		work.Advance(1)
	}
	work.Done()
	return report, nil
}

func (l *localProver) load(ctx context.Context, c engine.Circuit) (*engine.System, *groth16.Prover, error) {
	path, err := l.a.params.file(c)
	if err != nil {
		return nil, nil, err
	}
	params, err := groth16.OpenParams(path, l.a.params.policy())
	if err != nil {
		return nil, nil, exit.Wrap(exit.Unavailable, err, "")
	}
	key, err := groth16.LoadKey(ctx, params, 0)
	if cerr := params.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, nil, err
	}
	var systems engine.Systems
	sys, err := systems.Get(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	prover, err := groth16.NewProver(sys.System, key)
	return sys, prover, err
}

// partition makes and verifies one proof.
func (l *localProver) partition(ctx context.Context, job *engine.Job, sys *engine.System, prover *groth16.Prover, key *groth16.PreparedVerifyingKey, k int) (proof *groth16.Proof, err error) {
	ctx, span := l.tracer.Start(ctx, fmt.Sprintf("partition %d", k))
	defer span.End()
	if err := l.stage(ctx, "check", func(ctx context.Context) error { return badInput(job.Match(ctx, k)) }); err != nil {
		return nil, err
	}
	err = l.stage(ctx, "prove", func(ctx context.Context) error {
		w, err := job.Witness(ctx, sys, k)
		if err != nil {
			return badInput(err)
		}
		proof, err = prover.Prove(ctx, w, groth16.ProveOptions{StageHook: func(s groth16.Stage) {
			(&telemetry.Completed{Name: s.Name, Start: s.Start, End: s.Start.Add(s.Duration)}).Emit(ctx, l.tracer)
		}})
		return err
	})
	if err != nil {
		return nil, err
	}
	return proof, l.stage(ctx, "verify", func(context.Context) error {
		return job.Verify(key, []int{k}, []*groth16.Proof{proof})
	})
}
