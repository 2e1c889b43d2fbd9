package reference

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proofmill/proofmill/pkg/groth16"
)

// BenchmarkAgainstReference has the reference seal, set up and prove a 2 KiB sector, then makes the
// same proofs here with the parameters that it left, and reports how many times faster ours are:
//
//   - witness-x: the compact witness, which is what a synth makes, against the reference's witness;
//   - expanded-x: with all values computed, as the CPU prover does;
//   - proof-x: all but the witness.
//
// The kinds are those in PROOFMILL_REFERENCE_KINDS, by default winning,window; porep and update take
// the reference many minutes for their parameters. Run it alone on the machine.
func BenchmarkAgainstReference(b *testing.B) {
	oracle(b)
	kinds := os.Getenv("PROOFMILL_REFERENCE_KINDS")
	if kinds == "" {
		kinds = "winning,window"
	}
	for kind := range strings.SplitSeq(kinds, ",") {
		b.Run(kind, func(b *testing.B) {
			dir := b.TempDir()
			theirs := runReference(b, kind, dir)
			f := readFixture(b, dir, kind)
			s := newSetup(b, f, filepath.Join(dir, kind+"-2KiB.params"))
			s.prove(b, 0) // warm
			var witness, expanded, proof time.Duration
			b.ResetTimer()
			for b.Loop() {
				w, e, p := s.timed(b)
				witness, expanded, proof = witness+w, expanded+e, proof+p
			}
			b.StopTimer()
			n := time.Duration(b.N)
			report := func(name string, theirs, ours time.Duration) {
				b.ReportMetric(theirs.Seconds()/ours.Seconds(), name+"-x")
				b.ReportMetric(ours.Seconds()*1e3, name+"-ms")
				b.ReportMetric(theirs.Seconds()*1e3, name+"-reference-ms")
			}
			report("witness", theirs.witness, witness/n)
			report("expanded", theirs.witness, expanded/n)
			report("proof", theirs.all-theirs.witness, proof/n)
		})
	}
}

// timed makes one proof and says how long its parts took: the compact witness, that with all values,
// and the rest.
func (s *setup) timed(b *testing.B) (compact, expanded, rest time.Duration) {
	b.Helper()
	start := time.Now()
	w, err := s.job.Witness(context.Background(), s.sys, 0)
	if err != nil {
		b.Fatal(err)
	}
	compact = time.Since(start)
	expanded = compact
	_, err = s.prover.Prove(context.Background(), w, groth16.ProveOptions{StageHook: func(stage groth16.Stage) {
		if stage.Name == groth16.StageExpand {
			expanded += stage.Duration
		}
	}})
	if err != nil {
		b.Fatal(err)
	}
	return compact, expanded, time.Since(start) - expanded
}
