package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/demo"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/output"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/progress"
	"github.com/proofmill/proofmill/pkg/client"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/telemetry"
	"github.com/proofmill/proofmill/pkg/wire"
)

func init() { register(groupProofs, newDemoCommand) }

const demoLong = `Proves a real sealed sector of 2 KiB on this machine: its WinningPoSt, WindowPoSt (two partitions), SnapDeals and PoRep,
sent by message through an embedded NATS server to the three services in this process. Each proof is verified by the
gateway before it is released, and once more here. The timelines show where the time went.

The first run makes test parameters, about 2 GB in the user's cache directory, which takes some minutes on a small machine.`

// demoProof is one line of the demo's outcome.
type demoProof struct {
	Kind       string  `json:"kind"`
	Circuit    string  `json:"circuit"`
	Job        string  `json:"job"`
	Partitions int     `json:"partitions"`
	ProofBytes int     `json:"proof_bytes"`
	Seconds    float64 `json:"seconds"`
	Verified   bool    `json:"verified"`
	traceID    trace.TraceID
}

func newDemoCommand(a *app) *cobra.Command {
	var only []string
	command := &cobra.Command{
		Use: "demo", Short: "Prove a real sector on this machine and show the timeline", Long: demoLong,
		RunE: func(command *cobra.Command, _ []string) error { return runDemo(command, a, only) },
	}
	command.Flags().StringSliceVar(&only, "kinds", nil, "Only these kinds of proof, such as winning,window (default: all)")
	return command
}

func runDemo(command *cobra.Command, a *app, only []string) (err error) {
	requests, err := chosen(only)
	if err != nil {
		return err
	}
	a.params.Test = true
	for _, listen := range []*string{&a.fleet.gateway.Listen, &a.fleet.synth.Listen, &a.fleet.gpuprove.Listen} {
		*listen = "" // the demo is its own only client
	}
	if err := demoParams(command, a, requests); err != nil {
		return err
	}
	store, err := os.MkdirTemp("", "proofmill-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(store)) }()
	server, err := a.startEmbedded(command.Context(), upSettings{Store: store})
	if err != nil {
		return err
	}
	defer server.Shutdown()

	ctx, stop := context.WithCancel(command.Context())
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	ready := make(chan struct{})
	g.Go(func() error {
		return a.runServices(ctx, a.connectEmbedded(server), func() { close(ready) }, serviceGateway, serviceSynth, serviceGPUProve)
	})
	var proofs []demoProof
	g.Go(func() error {
		defer stop() // the services drain when the proofs are there
		select {
		case <-ready:
		case <-ctx.Done():
			return ctx.Err()
		}
		c, err := client.Dial(ctx, client.Config{Name: "demo", Options: []nats.Option{server.Option()}})
		if err != nil {
			return err
		}
		defer c.Close()
		proofs, err = proveAll(ctx, a, c, requests)
		return err
	})
	if err := g.Wait(); err != nil && (proofs == nil || !errors.Is(err, context.Canceled)) {
		return err
	}
	if err := showTimelines(a, proofs); err != nil {
		return err
	}
	return a.out.Print(proofs, func(t *output.Text) { demoText(t, proofs) })
}

// chosen are the sector's requests of the kinds.
func chosen(only []string) ([]demo.Request, error) {
	all, err := demo.Requests()
	if err != nil || len(only) == 0 {
		return all, err
	}
	var out []demo.Request
	for _, kind := range only {
		found := false
		for _, r := range all {
			if r.Kind.String() == kind {
				out, found = append(out, r), true
			}
		}
		if !found {
			return nil, exit.Errorf(exit.Usage, "--kinds %.40q: want winning, window, update or porep", kind)
		}
	}
	return out, nil
}

// demoParams makes the test parameters that are not there yet.
func demoParams(command *cobra.Command, a *app, requests []demo.Request) error {
	dir, err := a.params.directory()
	if err != nil {
		return err
	}
	group := progress.Start(a.stderr, a.logs)
	defer group.Close()
	for _, r := range requests {
		path, err := a.params.file(r.Circuit)
		if err != nil {
			return err
		}
		// The marker tells of the whole file that was written beside it.
		marker, err := groth16.ReadMarker(path)
		if err != nil {
			return err
		}
		if info, err := os.Stat(path); err == nil && marker != nil && marker.Digests.SHA256 == r.SHA256 && info.Size() == marker.Digests.Bytes {
			continue
		}
		_, result, err := setupInto(command, group, r.Circuit, dir, r.Toxic)
		if err != nil {
			return err
		}
		if result.Digests.SHA256 != r.SHA256 {
			return fmt.Errorf("test parameters of %s have digest %s, the reference's have %s", r.Circuit, result.Digests.SHA256, r.SHA256)
		}
	}
	return nil
}

// proveAll submits all requests at once and awaits their results.
func proveAll(ctx context.Context, a *app, c *client.Client, requests []demo.Request) ([]demoProof, error) {
	group := progress.Start(a.stderr, a.logs)
	defer group.Close()
	proofs := make([]demoProof, len(requests))
	g, ctx := errgroup.WithContext(ctx)
	for i := range requests {
		g.Go(func() (err error) {
			proofs[i], err = proveOne(ctx, a, c, group, &requests[i])
			return err
		})
	}
	return proofs, g.Wait()
}

func proveOne(ctx context.Context, a *app, c *client.Client, group *progress.Group, r *demo.Request) (demoProof, error) {
	start := time.Now()
	request := client.Request{Statement: statementOf(r.Request), Label: "demo " + r.Kind.String(), Vanilla: r.Vanilla}
	out := demoProof{Kind: r.Kind.String(), Circuit: r.Circuit.ID(), Job: string(request.ID())}
	ctx, span := a.telemetry.TracerProvider().Tracer("github.com/proofmill/proofmill/cmd/proofmill").Start(ctx, "demo "+r.Kind.String())
	defer span.End()
	out.traceID = span.SpanContext().TraceID()
	bar := newJobBar(group, kindTitles[r.Kind])
	result, err := c.Prove(ctx, request, bar.note)
	if err == nil {
		err = verifyDemo(ctx, a, r.Request, result)
	}
	bar.end(err)
	if err != nil {
		return out, fmt.Errorf("%s: %w", r.Kind, err)
	}
	out.Seconds, out.Verified = time.Since(start).Seconds(), true
	out.ProofBytes, out.Partitions = len(result.Proof), len(result.Proof)/wire.ProofBytes
	return out, nil
}

// verifyDemo checks a result as its receiver would.
func verifyDemo(ctx context.Context, a *app, r *engine.Request, result *wire.Result) error {
	job, err := engine.Open(ctx, r, engine.Options{})
	if err != nil {
		return err
	}
	vk, err := a.params.verifyingKey(job.Circuit(), "")
	if err != nil {
		return err
	}
	return job.VerifyResult(vk, result.Proof)
}

// showTimelines draws each proof's trace on standard error, after the services ended and their spans with them.
func showTimelines(a *app, proofs []demoProof) error {
	options := telemetry.TimelineFor(a.stderr, a.getenv)
	for _, p := range proofs {
		if _, err := fmt.Fprintf(a.stderr, "\n%s, ", p.Kind); err != nil {
			return err
		}
		if err := telemetry.RenderTimeline(a.stderr, a.telemetry.Recorder().Spans(p.traceID), options); err != nil {
			return err
		}
	}
	_, err := io.WriteString(a.stderr, "\n")
	return err
}

func demoText(t *output.Text, proofs []demoProof) {
	rows := make([][]string, len(proofs))
	for i, p := range proofs {
		rows[i] = []string{p.Kind, p.Circuit, fmt.Sprint(p.Partitions), fmt.Sprint(p.ProofBytes), fmt.Sprintf("%.1f s", p.Seconds), "verified"}
	}
	t.Table(output.Columns("kind", "circuit", ">partitions", ">proof bytes", ">time", ""), rows)
}
