package circuit

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/google/go-cmp/cmp"

	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/r1cs"
	"github.com/proofmill/proofmill/pkg/witness"
)

// TestStreamedWitness holds what is said of a witness instance by instance to what is said of all its values at once, for
// right and for changed witnesses of each kind.
func TestStreamedWitness(t *testing.T) {
	const size = filecoin.Size2KiB
	assign := map[filecoin.Kind]func(sys *r1cs.System) (*witness.Witness, error){
		filecoin.PoRep: func(sys *r1cs.System) (*witness.Witness, error) {
			_, st, partitions := porepFixture(t, size, "")
			return AssignPoRep(t.Context(), sys, st, 0, partitions[0], 0)
		},
		filecoin.Update: func(sys *r1cs.System) (*witness.Witness, error) {
			_, st, proofs := loadUpdate(t, size)
			return AssignUpdate(t.Context(), sys, st, 0, proofs[0], 0)
		},
	}
	for _, kind := range []filecoin.Kind{filecoin.Winning, filecoin.Window} {
		assign[kind] = func(sys *r1cs.System) (*witness.Witness, error) {
			_, proofs := postFixture(t, kind, size, "", filecoin.APIv1_0_0)
			return AssignPoSt(t.Context(), kind, size, sys, proofs[:1], 0)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, kind := range filecoin.Kinds() {
		t.Run(kind.String(), func(t *testing.T) {
			w, err := assign[kind](build(t, kind, size))
			if err != nil {
				t.Fatal(err)
			}
			if compareStreamed(t, w) != nil {
				t.Error("a right witness does not satisfy its circuit")
			}
			element := &w.Elements[random.IntN(len(w.Elements))]
			old := *element
			*element = fr.NewElement(4711)
			if compareStreamed(t, w) == nil {
				t.Error("a changed element satisfies the circuit")
			}
			*element = old
			w.Words[random.IntN(len(w.Words))] ^= 1 // the first bit of a word is always one of an instance
			if compareStreamed(t, w) == nil {
				t.Error("a changed bit satisfies the circuit")
			}
		})
	}
}

// compareStreamed returns the first violated constraint, or nil.
func compareStreamed(t *testing.T, w *witness.Witness) *r1cs.UnsatisfiedError {
	t.Helper()
	aux, err := w.Aux(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := w.Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(witness.DigestOf(w.Inputs, aux), digest); diff != "" {
		t.Errorf("digest (-at once +streamed):\n%s", diff)
	}
	var want, got *r1cs.UnsatisfiedError
	if err := w.System.Satisfied(t.Context(), w.Inputs, aux); err != nil && !errors.As(err, &want) {
		t.Fatal(err)
	}
	if err := w.Satisfied(t.Context(), 0); err != nil && !errors.As(err, &got) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("first violated constraint (-at once +streamed):\n%s", diff)
	}
	return got
}
