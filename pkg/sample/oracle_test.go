package sample

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/witness"
)

// verdict is what the reference says of vanilla proofs.
type verdict struct {
	Hold    bool           `json:"vanilla_proofs_hold"`
	Agree   bool           `json:"public_inputs_agree"`
	R1CS    string         `json:"r1cs_digest"`
	Witness witness.Digest `json:"witness"`
}

// oracle is the program that asks the reference, skipping the test where there is none.
func oracle(t *testing.T) string {
	t.Helper()
	program := os.Getenv("PROOFMILL_ORACLE")
	if os.Getenv("PROOFMILL_SLOW") == "" || program == "" {
		t.Skip("asking the reference takes minutes and its program: set PROOFMILL_SLOW=1 and PROOFMILL_ORACLE=FILE")
	}
	return program
}

// ask is what the reference says of a sample's files.
func ask(t *testing.T, program string, s *Sample, partition int) *verdict {
	t.Helper()
	dir := t.TempDir()
	d, err := s.Write(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	k := strconv.Itoa(partition)
	args := []string{"witness"}
	switch s.Kind {
	case filecoin.PoRep:
		args = append(args, "porep", d.C1File, k)
	case filecoin.Update:
		args = append(args, "update", d.RegisteredProof, d.CommROld, d.CommRNew, d.CommDNew, k)
		args = append(args, d.inputs()...)
	default:
		args = append(args, "post", d.RegisteredProof, d.Randomness, strconv.FormatUint(d.Miner, 10), k)
		args = append(args, d.inputs()...)
	}
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = dir
	out, err := command.Output()
	if err != nil {
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("%v: %s", err, failed.Stderr)
		}
		t.Fatal(err)
	}
	v := &verdict{}
	if err := json.Unmarshal(out, v); err != nil {
		t.Fatal(err)
	}
	return v
}

// The reference says that samples hold, and makes the same witnesses of them.
func TestReferenceAcceptsSamples(t *testing.T) {
	program, err := filepath.Abs(oracle(t))
	if err != nil {
		t.Fatal(err)
	}
	var systems engine.Systems
	for _, size := range []filecoin.SectorSize{filecoin.Size2KiB, filecoin.Size32KiB, filecoin.Size8MiB} {
		for _, m := range testProofs(t, size) {
			t.Run(m.name, func(t *testing.T) {
				s, j := opened(t, &m)
				sys, err := systems.Get(t.Context(), j.Circuit())
				if err != nil {
					t.Fatal(err)
				}
				for _, k := range m.partitions {
					want := ask(t, program, s, k)
					if !want.Hold || !want.Agree {
						t.Errorf("partition %d: vanilla proofs hold: %v, public inputs agree: %v", k, want.Hold, want.Agree)
					}
					got, err := satisfied(t, sys, j, k).Digest(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(&want.Witness, got); diff != "" {
						t.Errorf("witness of partition %d (-reference +ours):\n%s", k, diff)
					}
				}
			})
		}
	}
}
