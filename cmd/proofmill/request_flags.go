package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/wire"
)

// requestFlags name a request on the command line: what is asked for, and the files of its vanilla proofs.
type requestFlags struct {
	kind           filecoin.Kind
	c1             string
	proof          string
	randomness     string
	commROld       string
	commRNew       string
	commDNew       string
	vanilla        []string
	miner, sector  uint64
	partitionIndex uint32
}

// requestCommands makes one sub-command for each kind of proof, all of which run the same work.
func requestCommands(short string, work func(command *cobra.Command, r *requestFlags) error, more func(command *cobra.Command)) []*cobra.Command {
	commands := make([]*cobra.Command, 0, len(filecoin.Kinds()))
	for _, kind := range filecoin.Kinds() {
		r := &requestFlags{kind: kind}
		command := &cobra.Command{
			Use: kind.String(), Short: fmt.Sprintf(short, kindTitles[kind]),
			RunE: func(command *cobra.Command, files []string) error {
				r.vanilla = append(r.vanilla, files...)
				return work(command, r)
			},
		}
		if kind != filecoin.PoRep { // --vanilla FILE..., as a shell expands a pattern
			command.Use += " [FILE...]"
			command.Args = cobra.ArbitraryArgs
		}
		r.add(command)
		if more != nil {
			more(command)
		}
		commands = append(commands, command)
	}
	return commands
}

var kindTitles = map[filecoin.Kind]string{
	filecoin.PoRep: "PoRep", filecoin.Winning: "WinningPoSt", filecoin.Window: "WindowPoSt", filecoin.Update: "SnapDeals",
}

func (r *requestFlags) add(command *cobra.Command) {
	flags := command.Flags()
	required := []string{}
	switch r.kind {
	case filecoin.PoRep:
		flags.StringVar(&r.c1, "c1", "", "`FILE` with the output of C1, as JSON or in Curio's wrapper")
		flags.Uint64Var(&r.miner, "miner", 0, "Actor id of the miner, such as 1000 for f01000")
		flags.Uint64Var(&r.sector, "sector", 0, "Sector number")
		required = append(required, "c1", "miner", "sector")
	case filecoin.Update:
		flags.StringVar(&r.proof, "proof", "", "Registered proof, such as StackedDrg32GiBV1")
		flags.StringVar(&r.commROld, "comm-r-old", "", "comm_r before the update, in `HEX`")
		flags.StringVar(&r.commRNew, "comm-r-new", "", "comm_r after the update, in `HEX`")
		flags.StringVar(&r.commDNew, "comm-d-new", "", "comm_d of the new data, in `HEX`")
		flags.StringArrayVar(&r.vanilla, "vanilla", nil, "`FILE` of a partition's vanilla proof; all others may follow as arguments, in order")
		required = append(required, "proof", "comm-r-old", "comm-r-new", "comm-d-new", "vanilla")
	default:
		flags.StringVar(&r.proof, "proof", "", "Registered proof, such as StackedDrg"+strings.TrimSuffix(kindTitles[r.kind], "PoSt")+"32GiBV1")
		flags.StringVar(&r.randomness, "randomness", "", "Challenge randomness, 32 bytes in `HEX`")
		flags.Uint64Var(&r.miner, "miner", 0, "Actor id of the miner, such as 1000 for f01000")
		flags.StringArrayVar(&r.vanilla, "vanilla", nil, "`FILE` of a sector's vanilla proof; all others may follow as arguments, in order")
		required = append(required, "proof", "randomness", "miner", "vanilla")
		if r.kind == filecoin.Window {
			flags.Uint32Var(&r.partitionIndex, "partition-index", 0, "Place of the first partition in its deadline")
		}
	}
	for _, name := range required {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err) // a name without a flag
		}
	}
}

// load reads the request's files and values.
func (r *requestFlags) load() (*engine.Request, error) {
	out := &engine.Request{Kind: r.kind, Miner: r.miner, Sector: r.sector, PartitionIndex: r.partitionIndex}
	files := r.vanilla
	if r.kind == filecoin.PoRep {
		files = []string{r.c1}
	}
	for _, value := range []struct {
		flag, text string
		to         *[32]byte
	}{
		{"randomness", r.randomness, &out.Randomness},
		{"comm-r-old", r.commROld, (*[32]byte)(&out.CommROld)},
		{"comm-r-new", r.commRNew, (*[32]byte)(&out.CommRNew)},
		{"comm-d-new", r.commDNew, (*[32]byte)(&out.CommDNew)},
	} {
		if value.text == "" {
			continue
		}
		b, err := hex.DecodeString(strings.TrimPrefix(value.text, "0x"))
		if err != nil || len(b) != 32 {
			return nil, exit.Wrap(exit.Usage, fmt.Errorf("--%s %.80q is not 32 bytes in hexadecimal", value.flag, value.text), "")
		}
		copy(value.to[:], b)
	}
	left := int64(wire.MaxInputBytes)
	for _, path := range files {
		data, err := readInput(path, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(data))
		out.Vanilla = append(out.Vanilla, data)
	}
	return out, r.registeredProof(out)
}

// readInput reads a file of the user, of at most limit bytes. It may be a pipe, which says nothing of its size before.
func readInput(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // the user's file
	if err != nil {
		return nil, exit.Wrap(exit.BadInput, err, "check the name of the file, and that it may be read")
	}
	defer func() { _ = f.Close() }() // it was only read
	tooLarge := exit.Wrap(exit.BadInput, fmt.Errorf("%s: too large: more than %d bytes", path, limit), "check that the right file is named")
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > limit {
		return nil, tooLarge
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, exit.Wrap(exit.BadInput, err, "check that it is a file")
	}
	if int64(len(data)) > limit {
		return nil, tooLarge
	}
	return data, nil
}

// registeredProof finds the number of the proof: a C1 output says which it is of, the others are named by a flag.
func (r *requestFlags) registeredProof(out *engine.Request) error {
	switch r.kind {
	case filecoin.PoRep:
		c1, err := filecoin.DecodeC1(out.Vanilla[0], filecoin.Limits{})
		if err != nil {
			return exit.Wrap(exit.BadInput, fmt.Errorf("%s: %w", r.c1, err), "")
		}
		out.RegisteredProof = uint64(c1.Proof)
		return nil
	case filecoin.Update:
		p, err := filecoin.ParseRegisteredUpdateProof(r.proof)
		out.RegisteredProof = uint64(p)
		return exit.Wrap(exit.Usage, err, "")
	default:
		p, err := filecoin.ParseRegisteredPoStProof(r.proof)
		if err == nil && p.Kind() != r.kind {
			err = fmt.Errorf("%s is a proof of kind %s, not %s", p, p.Kind(), r.kind)
		}
		out.RegisteredProof = uint64(p)
		return exit.Wrap(exit.Usage, err, "")
	}
}

// badInput gives an error about a request's content the exit code of bad input; others stay as they are.
func badInput(err error) error {
	if engine.Refused(err) {
		return exit.Wrap(exit.BadInput, err, "")
	}
	return err
}

// parseCircuit reads KIND and SIZE.
func parseCircuit(args []string) (engine.Circuit, error) {
	kind, err := filecoin.ParseKind(args[0])
	if err != nil {
		return engine.Circuit{}, exit.Wrap(exit.Usage, err, "")
	}
	size, err := filecoin.ParseSectorSize(args[1])
	if err != nil {
		return engine.Circuit{}, exit.Wrap(exit.Usage, err, "")
	}
	return engine.Circuit{Kind: kind, Size: size}, nil
}
