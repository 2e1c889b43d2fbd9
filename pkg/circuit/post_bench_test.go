package circuit

import (
	"context"
	"testing"

	"github.com/proofmill/proofmill/pkg/filecoin"
)

// BenchmarkPoStWitness times the compact witness on one goroutine, and with its expansion to all
// auxiliary values, which is what a reference synthesis amounts to.
func BenchmarkPoStWitness(b *testing.B) {
	for _, bc := range []struct {
		kind filecoin.Kind
		size filecoin.SectorSize
	}{{filecoin.Winning, filecoin.Size2KiB}, {filecoin.Winning, filecoin.Size32KiB}, {filecoin.Window, filecoin.Size32KiB}} {
		_, proofs := postFixture(b, bc.kind, bc.size, "", filecoin.APIv1_0_0)
		proofs = proofs[:min(len(proofs), 2)]
		sys := build(b, bc.kind, bc.size)
		name := bc.kind.String() + "-" + bc.size.String()
		b.Run(name+"/compact", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := AssignPoSt(context.Background(), bc.kind, bc.size, sys, proofs, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/expanded", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w, err := AssignPoSt(context.Background(), bc.kind, bc.size, sys, proofs, 1)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := w.Aux(context.Background(), 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkBuildPoSt(b *testing.B) {
	for b.Loop() {
		build(b, filecoin.Window, filecoin.Size64GiB)
	}
}
