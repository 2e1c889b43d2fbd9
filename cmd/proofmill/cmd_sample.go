package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/output"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/sample"
)

func init() { register(groupCircuits, newSampleCommand) }

// sampleFlags choose among the samples of a circuit.
type sampleFlags struct {
	sample.Options

	proof string
	out   string
}

func newSampleCommand(a *app) *cobra.Command {
	flags := &sampleFlags{}
	command := &cobra.Command{
		Use: "sample KIND SIZE", Short: "Make vanilla proofs of a consistent synthetic sector, without sealing it",
		Long: "Makes a sector of SIZE (2KiB to 64GiB) that holds under all checks of KIND (porep, winning, window, update), and\n" +
			"writes its vanilla proofs as a storage provider sends them, with a JSON file that has the statement and the command\n" +
			"lines to prove and verify it. A seed gives the same sector always.\n\n" +
			"Synthetic and non-interactive PoReps need a sector that is labelled as a whole: they end at " + sample.MaxSealed.String() + ".",
		Example: "  proofmill sample porep 2KiB --seed 1 --out DIR\n  proofmill sample window 32GiB --seed 1 --sectors 100 --out DIR\n" +
			"  proofmill sample porep 8MiB --proof StackedDrg8MiBV1_1_Feat_SyntheticPoRep --out DIR",
		Args: cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error { return makeSample(command, a, args, flags) },
	}
	set := command.Flags()
	set.Uint64Var(&flags.Seed, "seed", 0, "Number that all values are derived from")
	set.StringVar(&flags.out, "out", "", "Write to this folder, `DIR`")
	set.StringVar(&flags.proof, "proof", "", "Registered proof (default: that of API 1.1.0 for a PoRep, else the first)")
	set.Uint64Var(&flags.Miner, "miner", sample.DefaultMiner, "Actor id of the miner")
	set.Uint64Var(&flags.Sector, "sector", sample.DefaultSector, "Sector number, or that of the first sector")
	set.IntVar(&flags.Sectors, "sectors", 0, "Number of sectors of a WindowPoSt (default: a full partition)")
	if err := command.MarkFlagRequired("out"); err != nil {
		panic(err) // a name without a flag
	}
	return command
}

func makeSample(command *cobra.Command, a *app, args []string, flags *sampleFlags) error {
	c, err := parseCircuit(args)
	if err != nil {
		return err
	}
	if flags.Sectors != 0 && c.Kind != filecoin.Window {
		return exit.Errorf(exit.Usage, "--sectors is for a window sample: a %s sample has one sector", c.Kind)
	}
	s, err := newSample(command.Context(), c, flags)
	if err != nil {
		if errors.Is(err, sample.ErrNotPossible) || engine.Refused(err) {
			return exit.Wrap(exit.Usage, err, "")
		}
		return err
	}
	d, err := s.Write(command.Context(), flags.out)
	if err != nil {
		return err
	}
	return a.out.Print(d, func(t *output.Text) {
		t.Fields(
			output.Field{Name: "sample", Value: c.String() + ", " + d.RegisteredProof},
			output.Field{Name: "vanilla proofs", Value: strconv.Itoa(s.Inputs())},
			output.Field{Name: "partitions", Value: strconv.Itoa(d.Partitions)},
			output.Field{Name: "folder", Value: flags.out},
			output.Field{Name: "prove", Value: d.Prove},
			output.Field{Name: "verify", Value: d.Verify},
		)
	})
}

// newSample makes the sample of the registered proof that --proof names or that is usual for the circuit.
func newSample(ctx context.Context, c engine.Circuit, flags *sampleFlags) (*sample.Sample, error) {
	switch c.Kind {
	case filecoin.PoRep:
		p, err := chooseProof(c, flags.proof, filecoin.ParseRegisteredSealProof, func() (filecoin.RegisteredSealProof, error) {
			return filecoin.SealProofFor(filecoin.SealV1_1, c.Size)
		})
		if err != nil {
			return nil, err
		}
		return sample.PoRep(ctx, p, flags.Options)
	case filecoin.Update:
		p, err := chooseProof(c, flags.proof, filecoin.ParseRegisteredUpdateProof, func() (filecoin.RegisteredUpdateProof, error) {
			return filecoin.UpdateProofFor(c.Size)
		})
		if err != nil {
			return nil, err
		}
		return sample.Update(ctx, p, flags.Options)
	default:
		p, err := chooseProof(c, flags.proof, filecoin.ParseRegisteredPoStProof, func() (filecoin.RegisteredPoStProof, error) {
			return filecoin.PoStProofFor(c.Kind, c.Size, filecoin.APIv1_0_0)
		})
		if err != nil {
			return nil, err
		}
		return sample.PoSt(ctx, p, flags.Options)
	}
}

// registeredProof is a number of a registered proof of any kind.
type registeredProof interface {
	fmt.Stringer
	Kind() filecoin.Kind
	Size() filecoin.SectorSize
}

// chooseProof reads the name of a registered proof, which must be one of the circuit; without a name it takes the usual.
func chooseProof[P registeredProof](c engine.Circuit, name string, parse func(string) (P, error), usual func() (P, error)) (P, error) {
	choose := usual
	if name != "" {
		choose = func() (P, error) { return parse(name) }
	}
	p, err := choose()
	if err == nil && (p.Kind() != c.Kind || p.Size() != c.Size) {
		err = fmt.Errorf("%s is a proof of %s %s, not of %s", p, p.Kind(), p.Size(), c)
	}
	return p, exit.Wrap(exit.Usage, err, "")
}
