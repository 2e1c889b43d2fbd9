package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/output"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/progress"
	"github.com/proofmill/proofmill/pkg/client"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/telemetry"
	"github.com/proofmill/proofmill/pkg/wire"
)

func init() { register(groupProofs, newProveCommand) }

// proveFlags are those of prove beside the request's.
type proveFlags struct {
	local    bool
	out      string
	label    string
	priority string
	deadline time.Duration
}

// proveReport is what prove prints as JSON.
type proveReport struct {
	Job        string  `json:"job,omitempty"`
	Circuit    string  `json:"circuit"`
	Partitions int     `json:"partitions"`
	Proof      string  `json:"proof"`
	Seconds    float64 `json:"seconds"`
}

func newProveCommand(a *app) *cobra.Command {
	p := &proveFlags{}
	more := func(command *cobra.Command) {
		flags := command.Flags()
		flags.BoolVar(&p.local, "local", false, "Prove in this process, without a fleet")
		flags.StringVar(&p.out, "out", "", "Write the proof's bytes to this `FILE` instead of its hex digits to standard output")
		flags.StringVar(&p.label, "label", "", "A name for the job, for people")
		flags.StringVar(&p.priority, "priority", "", "critical, high, normal or low (default: the kind's)")
		flags.DurationVar(&p.deadline, "deadline", 0, "Give up after this `duration`; the fleet serves the earliest deadline first")
		a.addNATSFlags(command)
		a.addParamsFlags(command)
	}
	return parent("prove", "Make a proof",
		requestCommands("Make a %s proof", func(command *cobra.Command, r *requestFlags) error {
			return prove(command, a, r, p)
		}, more)...)
}

func prove(command *cobra.Command, a *app, flags *requestFlags, p *proveFlags) error {
	if err := p.check(); err != nil {
		return err
	}
	request, err := flags.load()
	if err != nil {
		return err
	}
	run := proveRemotely
	if p.local {
		run = proveLocally
	}
	start := time.Now()
	report, spans, err := run(command, a, request, p)
	if len(spans) > 0 && !a.asJSON {
		if terr := telemetry.RenderTimeline(a.stderr, spans, telemetry.TimelineFor(a.stderr, a.getenv)); terr != nil && err == nil {
			err = terr
		}
	}
	if err != nil {
		return err
	}
	report.Seconds = time.Since(start).Seconds()
	return a.printProof(report, p.out)
}

// check finds what would be wrong with the flags only after the proof was made.
func (p *proveFlags) check() error {
	if p.priority != "" {
		if _, err := wire.ParsePriority(p.priority); err != nil {
			return exit.Wrap(exit.Usage, err, "")
		}
	}
	if p.deadline < 0 {
		return exit.Errorf(exit.Usage, "--deadline %s is over already", p.deadline)
	}
	if p.out == "" {
		return nil
	}
	const hint = "--out names a file, in a folder that may be written to"
	if info, err := os.Stat(p.out); err == nil && info.IsDir() {
		return exit.Wrap(exit.BadInput, fmt.Errorf("--out %s is a folder", p.out), hint)
	}
	probe, err := os.CreateTemp(filepath.Dir(p.out), "."+filepath.Base(p.out)+".*")
	if err != nil {
		if reason, ok := errors.AsType[*os.PathError](err); ok {
			err = reason.Err // the name of the probe says nothing to the user
		}
		return exit.Wrap(exit.BadInput, fmt.Errorf("--out %s: %w", p.out, err), hint)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// printProof writes the proof to the file, if there is one, and the report to standard output.
func (a *app) printProof(report *proveReport, out string) error {
	if out != "" {
		b, err := hex.DecodeString(report.Proof)
		if err != nil {
			return fmt.Errorf("proof: %w", err)
		}
		if err := writeWhole(out, b); err != nil {
			return err
		}
	}
	return a.out.Print(report, func(t *output.Text) {
		if out == "" {
			t.Linef("%s", report.Proof)
			return
		}
		t.Linef("%s: %d partitions of %s, %d bytes", out, report.Partitions, report.Circuit, len(report.Proof)/2)
	})
}

// writeWhole writes a file that is there whole or not at all.
func writeWhole(path string, b []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the first error is the one to report
		}
	}()
	if _, err = f.Write(b); err != nil {
		_ = f.Close()
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// proveRemotely has the fleet make the proof.
func proveRemotely(command *cobra.Command, a *app, r *engine.Request, p *proveFlags) (*proveReport, []telemetry.Span, error) {
	ctx := command.Context()
	request := client.Request{Statement: statementOf(r), Label: p.label, Vanilla: r.Vanilla}
	if p.priority != "" {
		var err error
		if request.Priority, err = wire.ParsePriority(p.priority); err != nil {
			return nil, nil, exit.Wrap(exit.Usage, err, "")
		}
	}
	if p.deadline > 0 {
		request.Deadline = time.Now().Add(p.deadline)
	}
	c, err := a.nats.dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	group := progress.Start(a.stderr, a.logs)
	bar := newJobBar(group, jobTitle(r, request.ID()))
	result, err := c.Prove(ctx, request, bar.note)
	bar.end(err)
	group.Close()
	if result == nil {
		return nil, nil, err
	}
	spans := resultSpans(result)
	if err != nil {
		return nil, spans, err
	}
	return &proveReport{
		Job: string(result.ID), Circuit: result.Circuit, Partitions: len(result.Proof) / wire.ProofBytes, Proof: hex.EncodeToString(result.Proof),
	}, spans, nil
}

func jobTitle(r *engine.Request, id wire.JobID) string { return kindTitles[r.Kind] + " " + id.Short() }

// statementOf is the request as messages name it.
func statementOf(r *engine.Request) wire.Statement {
	return wire.Statement{
		Kind: wireKinds[r.Kind], RegisteredProof: r.RegisteredProof, SectorSize: r.SectorSize, Miner: r.Miner, Sector: r.Sector,
		PartitionIndex: r.PartitionIndex, Randomness: r.Randomness,
		CommROld: wire.Digest(r.CommROld), CommRNew: wire.Digest(r.CommRNew), CommDNew: wire.Digest(r.CommDNew),
	}
}

var wireKinds = map[filecoin.Kind]wire.Kind{
	filecoin.PoRep: wire.KindPoRep, filecoin.Update: wire.KindUpdate, filecoin.Window: wire.KindWindowPoSt, filecoin.Winning: wire.KindWinningPoSt,
}

// jobBar shows how many partitions of a job are done.
type jobBar struct {
	work  *progress.Work
	total uint32
	done  uint32
}

func newJobBar(group *progress.Group, title string) *jobBar {
	return &jobBar{work: group.Add(title, 0, progress.Items)}
}

// note takes a message of progress.
func (b *jobBar) note(p *wire.Progress) {
	if p.Total > b.total {
		b.total = p.Total
		b.work.SetTotal(int64(p.Total))
	}
	if p.Done > b.done {
		b.work.Advance(int64(p.Done - b.done))
		b.done = p.Done
	}
}

func (b *jobBar) end(err error) {
	if err != nil {
		b.work.Fail(err)
		return
	}
	b.work.Done()
}
