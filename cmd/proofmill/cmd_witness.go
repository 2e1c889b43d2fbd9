package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/output"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/witness"
)

func init() { register(groupCircuits, newWitnessCommand) }

// partitionReport is what is said of one partition's witness.
type partitionReport struct {
	Partition int             `json:"partition"`
	BlobBytes int             `json:"blob_bytes"`
	Satisfied bool            `json:"satisfied,omitempty"`
	Witness   *witness.Digest `json:"witness,omitempty"`
}

type witnessReport struct {
	Circuit    string            `json:"circuit"`
	Partitions []partitionReport `json:"partitions"`
}

func newWitnessCommand(a *app) *cobra.Command {
	var partition int
	more := func(command *cobra.Command) {
		command.Flags().IntVar(&partition, "partition", -1, "Only this partition, counted from 0 (default: all)")
	}
	kinds := func(short string, check bool) []*cobra.Command {
		return requestCommands(short, func(command *cobra.Command, r *requestFlags) error {
			return reportWitness(command, a, r, partition, check)
		}, more)
	}
	return parent("witness", "Witnesses: their digests, and whether they satisfy the circuit",
		parent("digest", "Show the digests of all values of a witness", kinds("Show the digests of a %s witness", false)...),
		parent("check", "Evaluate every constraint on a witness", kinds("Check a %s witness against every constraint", true)...),
	)
}

func reportWitness(command *cobra.Command, a *app, flags *requestFlags, partition int, check bool) error {
	ctx := command.Context()
	if partition < -1 {
		return exit.Errorf(exit.Usage, "partition %d does not exist: they count from 0", partition)
	}
	request, err := flags.load()
	if err != nil {
		return err
	}
	job, err := engine.Open(ctx, request, engine.Options{TestProofs: true})
	if err != nil {
		return badInput(err)
	}
	from, to := 0, job.Partitions()
	if partition >= 0 {
		if partition >= to {
			return exit.Errorf(exit.Usage, "partition %d does not exist: there are %d", partition, to)
		}
		from, to = partition, partition+1
	}
	var systems engine.Systems
	sys, err := systems.Get(ctx, job.Circuit())
	if err != nil {
		return err
	}
	report := witnessReport{Circuit: job.Circuit().ID()}
	for k := from; k < to; k++ {
		if err := job.Match(ctx, k); err != nil {
			return badInput(err)
		}
		w, err := job.Witness(ctx, sys, k)
		if err != nil {
			return badInput(err)
		}
		p := partitionReport{Partition: k, BlobBytes: witness.BlobSize(sys.System, job.Circuit().ID())}
		if check {
			if err := w.Satisfied(ctx, 0); err != nil {
				return exit.Wrap(exit.Failed, err, "")
			}
			p.Satisfied = true
		} else if p.Witness, err = w.Digest(ctx); err != nil {
			return err
		}
		report.Partitions = append(report.Partitions, p)
	}
	return a.out.Print(report, func(t *output.Text) { report.text(t, sys.NumConstraints) })
}

func (r *witnessReport) text(t *output.Text, constraints int) {
	rows := make([][]string, 0, len(r.Partitions))
	for _, p := range r.Partitions {
		said := "satisfies " + strconv.Itoa(constraints) + " constraints"
		if p.Witness != nil {
			said = p.Witness.Aux
		}
		rows = append(rows, []string{strconv.Itoa(p.Partition), strconv.Itoa(p.BlobBytes), said})
	}
	t.Linef("circuit  %s", r.Circuit)
	t.Table(output.Columns(">partition", ">blob bytes", "witness"), rows)
}
