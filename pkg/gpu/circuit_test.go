package gpu

import (
	"math/rand/v2"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// rounds is how many random circuits a test looks at: n on a GPU, fewer on the host, which is slow.
func rounds(t testing.TB, d *Device, n int) int {
	t.Helper()
	if testing.Short() {
		return max(n/20, 1)
	}
	if d.Info().Compute[0] == 0 {
		return max(n/5, 1)
	}
	return n
}

// TestValuesAreThoseOfTheProcessor compares all auxiliary values, A w and B w of random circuits.
func TestValuesAreThoseOfTheProcessor(t *testing.T) {
	d := testDevice(t)
	for round := range rounds(t, d, 100) {
		g := rand.New(rand.NewPCG(uint64(round), 1))
		sys := randomSystem(g, round%2 == 0)
		compareValues(t, d, g, sys, round)
		if t.Failed() {
			return
		}
	}
}

func compareValues(t *testing.T, d *Device, g *rand.Rand, sys *r1cs.System, round int) {
	t.Helper()
	c, err := d.NewCircuit(t.Context(), "random", sys)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	plan := planSlot(c, 0)
	s, err := d.newSlot("random", &plan)
	if err != nil {
		t.Fatal(err)
	}
	defer s.free()
	w := randomWitness(g, sys)
	if err := s.upload(w); err != nil {
		t.Fatal(err)
	}
	if err := c.expand(s.stream, s.words, s.elements, s.aux); err != nil {
		t.Fatal(err)
	}
	want, err := w.Aux(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, s, "auxiliary value", round, s.aux, want)
	n := c.domain.size()
	for m, at := range map[r1cs.MatrixName]uintptr{r1cs.MatrixA: s.a, r1cs.MatrixB: s.b} {
		if err := c.evaluate(s.stream, m, s.inputs, s.aux, at, w.Inputs); err != nil {
			t.Fatal(err)
		}
		rows := make([]fr.Element, n)
		if err := sys.Evaluate(t.Context(), m, rows, w.Inputs, want, 1); err != nil {
			t.Fatal(err)
		}
		compare(t, s, "row", round, at, rows)
	}
}

func compare(t *testing.T, s *slot, what string, round int, at uintptr, want []fr.Element) {
	t.Helper()
	got := make([]fr.Element, len(want))
	if err := copyOut(s.stream, got, at); err != nil {
		t.Fatal(err)
	}
	if err := s.stream.wait(); err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("circuit %d: %s %d of %d is %v, want %v", round, what, i, len(want), got[i], want[i])
		}
	}
}
