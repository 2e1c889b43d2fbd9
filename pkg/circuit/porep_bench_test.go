package circuit

import (
	"testing"

	"github.com/proofmill/proofmill/pkg/filecoin"
)

// BenchmarkAssignPoRep makes the witness of a partition of a 2 KiB sector on one worker.
func BenchmarkAssignPoRep(b *testing.B) {
	_, st, partitions := porepFixture(b, filecoin.Size2KiB, "")
	sys := build(b, filecoin.PoRep, filecoin.Size2KiB)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := AssignPoRep(b.Context(), sys, st, 0, partitions[0], 1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(sys.NumAux)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mvars/s")
}

// BenchmarkBuildPoRep makes the constraints of a 2 KiB and of a 32 GiB sector's partition.
func BenchmarkBuildPoRep(b *testing.B) {
	for _, size := range []filecoin.SectorSize{filecoin.Size2KiB, filecoin.Size32GiB} {
		b.Run(size.String(), func(b *testing.B) {
			b.ReportAllocs()
			var bytes int
			for b.Loop() {
				bytes = build(b, filecoin.PoRep, size).Bytes()
			}
			b.ReportMetric(float64(bytes)/(1<<20), "MiB-kept")
		})
	}
}

// BenchmarkDigestPoRep hashes the 130 million constraints of a 32 GiB sector's partition. Run it with -cpu 1,2.
func BenchmarkDigestPoRep(b *testing.B) {
	sys := build(b, filecoin.PoRep, filecoin.Size32GiB)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sys.Digest(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(sys.NumConstraints)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mconstraints/s")
}
