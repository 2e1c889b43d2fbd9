package services_test

import (
	"os"
	"testing"
	"time"

	"github.com/proofmill/proofmill/pkg/wire"
)

// TestProofsThroughThePipeline sends sealed sectors' vanilla proofs by message and gets proofs that hold.
func TestProofsThroughThePipeline(t *testing.T) {
	names := []string{winning, window}
	if os.Getenv("PROOFMILL_SLOW") != "" { // their parameters take minutes and gigabytes
		names = append(names, "update-2KiB", "porep-2KiB")
	}
	f := newFleet(t, testParams(t, names...))
	f.all()
	for _, name := range names {
		fixture := readFixture(t, name)
		r := fixture.request(t)
		start := time.Now()
		result := f.result(f.submit(r), 1)
		t.Logf("%s: %s after %v", name, result.Status, time.Since(start))
		f.verified(r, result, name)
		if len(result.Partitions) != len(fixture.Partitions) || result.Label != r.Label || result.Circuit != fixture.circuit(t).ID() {
			t.Errorf("%s: %d partitions, label %q, circuit %s", name, len(result.Partitions), result.Label, result.Circuit)
		}
		for _, p := range result.Partitions {
			if p.Attempt != 1 || p.SynthWorker != "synth-1" || p.ProveWorker != "prove-1" || len(p.Stages) < 10 {
				t.Errorf("%s: partition made so: %+v", name, p)
			}
		}
	}
	// Nothing is left behind but the results and the records.
	eventually(t, "empty queues", func() bool {
		for _, w := range wire.Works() {
			s, err := f.client.JetStream().Stream(t.Context(), f.client.Names().Stream(w))
			if err != nil || s.CachedInfo().State.Msgs != 0 {
				return false
			}
		}
		s, err := f.client.JetStream().Stream(t.Context(), "OBJ_"+f.client.Names().BucketBlobs())
		return err == nil && s.CachedInfo().State.Msgs == 0
	})
}
