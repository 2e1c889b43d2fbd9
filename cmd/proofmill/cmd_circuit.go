package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/output"
	"github.com/proofmill/proofmill/pkg/circuit"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

func init() { register(groupCircuits, newCircuitCommand) }

// circuitReport has the fields of the reference program's output.
type circuitReport struct {
	Kind            string `json:"kind"`
	Sector          string `json:"sector"`
	SectorSize      uint64 `json:"sector_size"`
	CacheIdentifier string `json:"cache_identifier"`
	ParameterSet    string `json:"parameter_set_identifier"`
	*r1cs.Digest
}

func newCircuitCommand(a *app) *cobra.Command {
	digest := &cobra.Command{
		Use: "digest KIND SIZE", Short: "Build a circuit and show its counts and digest",
		Long: "Builds the circuit of KIND (porep, winning, window, update) at SIZE (2KiB to 64GiB) and shows its counts and\n" +
			"the digest over all its constraints. Equal digests mean equal circuits.",
		Example: "  proofmill circuit digest winning 2KiB\n  proofmill circuit digest porep 32GiB --json",
		Args:    cobra.ExactArgs(2),
		RunE:    func(command *cobra.Command, args []string) error { return circuitDigest(command, a, args) },
	}
	return parent("circuit", "Circuits: their counts and digests", digest)
}

func circuitDigest(command *cobra.Command, a *app, args []string) error {
	c, err := parseCircuit(args)
	if err != nil {
		return err
	}
	report := circuitReport{Kind: c.Kind.String(), Sector: c.Size.String(), SectorSize: uint64(c.Size)}
	if report.CacheIdentifier, err = filecoin.CacheIdentifier(c.Kind, c.Size); err != nil {
		return err
	}
	if report.ParameterSet, err = filecoin.ParameterSet(c.Kind, c.Size); err != nil {
		return err
	}
	sys, err := circuit.Build(c.Kind, c.Size)
	if err != nil {
		return err
	}
	if report.Digest, err = sys.Digest(command.Context()); err != nil {
		return err
	}
	return a.out.Print(report, func(t *output.Text) {
		number := strconv.Itoa
		t.Fields(
			output.Field{Name: "circuit", Value: c.String()},
			output.Field{Name: "constraints", Value: number(report.NumConstraints)},
			output.Field{Name: "auxiliary variables", Value: number(report.NumAux)},
			output.Field{Name: "public inputs", Value: number(report.NumInputs)},
			output.Field{Name: "non-zeros of A, B, C", Value: strconv.FormatUint(report.NonZeroA, 10) + ", " +
				strconv.FormatUint(report.NonZeroB, 10) + ", " + strconv.FormatUint(report.NonZeroC, 10)},
			output.Field{Name: "memory of the blocks", Value: strconv.Itoa(sys.Bytes()>>20) + " MiB"},
			output.Field{Name: "parameters", Value: report.CacheIdentifier},
			output.Field{Name: "digest", Value: report.R1CS},
		)
	})
}
