package circuit

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/r1cs"
	"github.com/proofmill/proofmill/pkg/witness"
)

// realSector reads a vanilla proof of a 32 GiB sector of the Filecoin network, which is not copied
// into the project.
func realSector(t testing.TB) *filecoin.PoStSectorProof {
	t.Helper()
	shared := cmp.Or(os.Getenv("PROOFMILL_SHARED"), filepath.Join("..", "..", "..", "shared"))
	data, err := os.ReadFile(filepath.Join(shared, "golden", "real", "window-post-sector.vanilla.bin"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("set PROOFMILL_SHARED to the folder that has golden/real to check a sector of the Filecoin network")
	}
	if err != nil {
		t.Fatal(err)
	}
	registered, err := filecoin.PoStProofFor(filecoin.Window, filecoin.Size32GiB, filecoin.APIv1_0_0)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := filecoin.DecodePoStSectorProof(data, registered)
	if err != nil {
		t.Fatal(err)
	}
	return proof
}

// TestSectorOfTheNetwork assigns a partition that one real sector fills, and evaluates the
// constraints of the last instance.
func TestSectorOfTheNetwork(t *testing.T) {
	proof := realSector(t)
	sys := build(t, filecoin.Window, filecoin.Size32GiB)
	w, err := AssignPoSt(t.Context(), filecoin.Window, filecoin.Size32GiB, sys, []filecoin.PoStSectorProof{*proof}, 0)
	if err != nil {
		t.Fatal(err)
	}
	block := sys.Blocks[0]
	aux := make([]fr.Element, block.AuxStride)
	w.ExpandInstance(0, block.Repeat-1, aux)
	inputs := slices.Concat(w.Inputs[:1], w.Inputs[len(w.Inputs)-block.InputStride:])

	single := *sys
	block.Repeat = 1
	single.Blocks = []r1cs.Block{block}
	single.NumInputs, single.NumAux = len(inputs), len(aux)
	single.NumConstraints = block.Rows + len(inputs)
	if err := single.Satisfied(t.Context(), inputs, aux); err != nil {
		t.Error(err)
	}
}

// BenchmarkSectorOfTheNetwork times the compact witness of one 32 GiB sector of a WindowPoSt, of
// which a partition has 2349, on one goroutine.
func BenchmarkSectorOfTheNetwork(b *testing.B) {
	proof := realSector(b)
	sys := build(b, filecoin.Window, filecoin.Size32GiB)
	sys.Blocks[0].Repeat = 1
	arities := filecoin.Size32GiB.Shape().Arities(filecoin.Size32GiB)
	w := witness.New(sys)
	b.ReportAllocs()
	for b.Loop() {
		s := postAssigner{arities: arities}
		if err := w.Assign(0, 0, func(a *r1cs.Assigner) { s.sector(a, proof, 0, filecoin.WindowChallenges) }); err != nil || s.err != nil {
			b.Fatal(err, s.err)
		}
	}
}
