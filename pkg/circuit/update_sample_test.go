package circuit

import (
	"os"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/sample"
)

// sampleUpdate is an update of a sector of any size.
func sampleUpdate(t testing.TB, size filecoin.SectorSize) *sample.Sample {
	t.Helper()
	number, err := filecoin.UpdateProofFor(size)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sample.Update(t.Context(), number, sample.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestUpdateWitnessOfSamples satisfies the circuits of sizes that have no sealed fixture: those with four partitions and
// with six different choices of h.
func TestUpdateWitnessOfSamples(t *testing.T) {
	sizes := map[filecoin.SectorSize][]int{filecoin.Size16KiB: {1}, filecoin.Size8MiB: {2}}
	if os.Getenv("PROOFMILL_SLOW") != "" { // takes 3 GiB for the 81 million variables
		sizes[filecoin.Size32GiB] = []int{11}
	}
	for size, partitions := range sizes {
		t.Run(size.String(), func(t *testing.T) {
			skipLargeInShort(t, size)
			sys := build(t, filecoin.Update, size)
			s := sampleUpdate(t, size)
			for _, k := range partitions {
				w, err := AssignUpdate(t.Context(), sys, s.Update, k, &s.Partitions[k], 0)
				if err != nil {
					t.Fatal(err)
				}
				aux, err := w.Aux(t.Context(), 0)
				if err != nil {
					t.Fatal(err)
				}
				if err := sys.Satisfied(t.Context(), w.Inputs, aux); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// BenchmarkUpdateWitnessOfProduction is what a worker does for a partition of a 32 GiB sector.
func BenchmarkUpdateWitnessOfProduction(b *testing.B) {
	sys := build(b, filecoin.Update, filecoin.Size32GiB)
	s := sampleUpdate(b, filecoin.Size32GiB)
	b.ReportAllocs()
	for b.Loop() {
		w, err := AssignUpdate(b.Context(), sys, s.Update, 5, &s.Partitions[5], 1)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(8*len(w.Words)+fr.Bytes*len(w.Elements)), "bytes/witness")
	}
}
