package circuit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/r1cs"
	"github.com/proofmill/proofmill/pkg/witness"
)

// golden reads a file of the reference's facts.
func golden(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func goldenJSON(t testing.TB, name string, v any) {
	t.Helper()
	if err := json.Unmarshal(golden(t, name), v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// build is [Build] of a circuit that exists.
func build(t testing.TB, kind filecoin.Kind, size filecoin.SectorSize) *r1cs.System {
	t.Helper()
	sys, err := Build(kind, size)
	if err != nil {
		t.Fatal(err)
	}
	return sys
}

// checkCircuit compares a system's digest, counts, non-zeros and densities with the reference's.
func checkCircuit(t *testing.T, kind filecoin.Kind, size filecoin.SectorSize) {
	t.Helper()
	var want r1cs.Digest
	goldenJSON(t, "circuits/"+kind.String()+"-"+size.String()+".json", &want)
	got, err := build(t, kind, size).Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("circuit %s-%s (-reference +ours):\n%s", kind, size, diff)
	}
}

// fixture is a sealed sector's record: what the tests of all kinds need of it.
type fixture struct {
	Partitions []struct {
		Partition int            `json:"partition"`
		Witness   witness.Digest `json:"witness"`
	} `json:"partitions"`
	Sectors []struct {
		VanillaFile string `json:"vanilla_file"`
	} `json:"sectors"`
}

// checkWitness expands w, compares its digest with the reference's, and evaluates every constraint.
func checkWitness(t *testing.T, w *witness.Witness, want *witness.Digest) {
	t.Helper()
	aux, err := w.Aux(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, witness.DigestOf(w.Inputs, aux)); diff != "" {
		t.Errorf("witness (-reference +ours):\n%s", diff)
	}
	if err := w.System.Satisfied(t.Context(), w.Inputs, aux); err != nil {
		t.Error(err)
	}
}
