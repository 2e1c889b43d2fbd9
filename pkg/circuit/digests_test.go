package circuit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/proofmill/proofmill/pkg/filecoin"
)

// Every golden circuit is in the table, and the table has nothing else.
func TestKnownDigestsAreTheGoldenOnes(t *testing.T) {
	files, err := filepath.Glob("../../testdata/golden/circuits/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden circuits: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var golden struct {
			Kind   string `json:"kind"`
			Sector string `json:"sector"`
			R1CS   string `json:"r1cs_digest"`
		}
		if err := json.Unmarshal(data, &golden); err != nil {
			t.Fatal(err)
		}
		kind, err := filecoin.ParseKind(golden.Kind)
		if err != nil {
			t.Fatal(err)
		}
		size, err := filecoin.ParseSectorSize(golden.Sector)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := KnownDigest(kind, size); !ok || got != golden.R1CS {
			t.Errorf("%s: table says %q, golden %s", file, got, golden.R1CS)
		}
	}
	n := 0
	for _, sizes := range digests {
		n += len(sizes)
	}
	if n != len(files) {
		t.Errorf("table has %d digests, there are %d golden circuits", n, len(files))
	}
}
