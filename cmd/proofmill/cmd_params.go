package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/spf13/cobra"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/output"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/progress"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/groth16"
)

func init() { register(groupCircuits, newParamsCommand) }

// generated is what params generate prints.
type generated struct {
	Circuit      string          `json:"circuit"`
	Params       string          `json:"params"`
	VerifyingKey string          `json:"vk"`
	Counts       groth16.Counts  `json:"counts"`
	Digests      groth16.Digests `json:"digests"`
}

func newParamsCommand(a *app) *cobra.Command {
	var toxic, dir string
	generate := &cobra.Command{
		Use: "generate KIND SIZE", Short: "Make parameters for tests",
		Long: "Makes a parameter file and verifying key from random secrets, or from given ones. Who makes parameters can know\n" +
			"their secrets, so they are for tests only: a marker file beside them says so, and production refuses them.\n" +
			"PoRep at 2KiB takes about a minute and 1.1 GB of disk.",
		Example: "  proofmill params generate winning 2KiB\n  proofmill params generate porep 2KiB --toxic secrets.json --dir /tmp/params",
		Args:    cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			return generateParams(command, a, args, toxic, dir)
		},
	}
	generate.Flags().StringVar(&toxic, "toxic", "", "JSON `FILE` with the secrets alpha, beta, gamma, delta, tau: 32 little-endian bytes each, in hex")
	generate.Flags().StringVar(&dir, "dir", "", "`DIR` to write to (default: proofmill/test-params in the user's cache directory)")
	return parent("params", "Parameter files", generate)
}

func generateParams(command *cobra.Command, a *app, args []string, toxicFile, dir string) error {
	c, err := parseCircuit(args)
	if err != nil {
		return err
	}
	if dir == "" {
		if dir, err = testParamsDir(); err != nil {
			return err
		}
	}
	if same(dir, filecoin.ParamsDir()) {
		return exit.Wrap(exit.Usage, fmt.Errorf("%s is the directory of Filecoin's parameters", dir), "choose another --dir: test parameters must not lie among real ones")
	}
	var toxic *groth16.Toxic
	if toxicFile != "" {
		if toxic, err = readToxic(toxicFile); err != nil {
			return exit.Wrap(exit.BadInput, err, "")
		}
	}
	group := progress.Start(a.stderr, a.logs)
	path, result, err := setupInto(command, group, c, dir, toxic)
	group.Close()
	if err != nil {
		return err
	}
	report := generated{c.ID(), path, groth16.VerifyingKeyPath(path), result.Counts, result.Digests}
	return a.out.Print(report, func(t *output.Text) {
		t.Fields(
			output.Field{Name: "circuit", Value: c.String()},
			output.Field{Name: "parameters", Value: path},
			output.Field{Name: "bytes", Value: fmt.Sprint(result.Digests.Bytes)},
			output.Field{Name: "points", Value: result.Counts.String()},
			output.Field{Name: "SHA-256", Value: result.Digests.SHA256},
			output.Field{Name: "BLAKE2b", Value: result.Digests.BLAKE2b},
		)
	})
}

// setupInto makes the parameters of a circuit in dir, with a line of progress.
func setupInto(command *cobra.Command, group *progress.Group, c engine.Circuit, dir string, toxic *groth16.Toxic) (string, *groth16.SetupResult, error) {
	ctx := command.Context()
	name, err := filecoin.ParamsFile(c.Kind, c.Size)
	if err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // parameters are public
		return "", nil, err
	}
	var systems engine.Systems
	sys, err := systems.Get(ctx, c)
	if err != nil {
		return "", nil, err
	}
	path := filepath.Join(dir, name)
	work := group.Add("parameters "+c.ID(), 0, progress.Items)
	last := 0
	result, err := groth16.SetupFile(ctx, sys.System, path, groth16.SetupOptions{
		Toxic: toxic, Circuit: c.String(), R1CS: hex.EncodeToString(sys.R1CS[:]),
		Progress: func(_ string, done, total int) {
			if last == 0 {
				work.SetTotal(int64(total))
			}
			work.Advance(int64(done - last))
			last = done
		},
	})
	if err != nil {
		work.Fail(err)
		return "", nil, err
	}
	work.Done()
	return path, result, nil
}

// readToxic reads the secrets of a setup.
func readToxic(path string) (*groth16.Toxic, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the user's file
	if err != nil {
		return nil, err
	}
	var text map[string]string
	if err := json.Unmarshal(data, &text); err != nil {
		return nil, fmt.Errorf("secrets %s: %w", path, err)
	}
	t := new(groth16.Toxic)
	for _, secret := range []struct {
		name string
		to   *fr.Element
	}{{"alpha", &t.Alpha}, {"beta", &t.Beta}, {"gamma", &t.Gamma}, {"delta", &t.Delta}, {"tau", &t.Tau}} {
		b, err := hex.DecodeString(text[secret.name])
		if err != nil || len(b) != fr.Bytes {
			return nil, fmt.Errorf("secrets %s: %s %.80q is not 32 bytes in hexadecimal", path, secret.name, text[secret.name])
		}
		if *secret.to, err = fr.LittleEndian.Element((*[fr.Bytes]byte)(b)); err != nil {
			return nil, fmt.Errorf("secrets %s: %s is not a field element: %w", path, secret.name, err)
		}
	}
	return t, nil
}

// same says whether two paths name one directory.
func same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y) || filepath.Clean(a) == filepath.Clean(b)
}
