package demo

import (
	"context"
	"testing"

	"github.com/proofmill/proofmill/pkg/engine"
)

// The sector's vanilla proofs hold, and there is one request of each kind.
func TestSectorHolds(t *testing.T) {
	requests, err := Requests()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, r := range requests {
		kinds[r.Kind.String()] = true
		job, err := engine.Open(context.Background(), r.Request, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for k := range job.Partitions() {
			if err := job.Check(context.Background(), k); err != nil {
				t.Error(err)
			}
		}
		if r.Toxic.Tau.IsZero() || len(r.SHA256) != 64 {
			t.Errorf("%s: parameters are not described", r.Kind)
		}
	}
	if len(kinds) != 4 {
		t.Errorf("kinds %v", kinds)
	}
}
