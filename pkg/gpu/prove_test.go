package gpu

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

// small is for circuits of some hundred constraints.
var small = KeyOptions{Prover: ProverOptions{InFlight: 2, ScratchBytes: 1 << 30}}

// testKey makes a key of a system with secrets of its own.
func testKey(t testing.TB, sys *r1cs.System) *groth16.Key {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.params")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := groth16.Setup(context.Background(), sys, f, groth16.SetupOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := groth16.OpenParams(path, groth16.PolicyTest)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	k, err := groth16.LoadKey(context.Background(), p, 0)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestProofsAreThoseOfTheProcessor proves random circuits on both and compares the bytes.
func TestProofsAreThoseOfTheProcessor(t *testing.T) {
	d := testDevice(t)
	for round := range rounds(t, d, 200) {
		g := rand.New(rand.NewPCG(uint64(round), 2))
		sys := randomSystem(g, round%10 == 0)
		compareProofs(t, d, g, sys, round)
		if t.Failed() {
			return
		}
	}
}

func compareProofs(t *testing.T, d *Device, g *rand.Rand, sys *r1cs.System, round int) {
	t.Helper()
	key := testKey(t, sys)
	cpu, err := groth16.NewProver(sys, key)
	if err != nil {
		t.Fatal(err)
	}
	opts := small
	opts.Copies = 1 + round%5
	p := testProver(t, d, sys, KeyPoints{key}, opts)
	w := randomWitness(g, sys)
	r, s := randomElement(g), randomElement(g)
	want, err := cpu.Prove(t.Context(), w, groth16.ProveOptions{R: &r, S: &s, Workers: 1})
	if err != nil {
		t.Fatalf("circuit %d: %v", round, err)
	}
	got, err := p.Prove(t.Context(), w, ProveOptions{R: &r, S: &s})
	if err != nil {
		t.Fatalf("circuit %d: %v", round, err)
	}
	if a, b := got.Bytes(), want.Bytes(); !bytes.Equal(a[:], b[:]) {
		t.Errorf("circuit %d, %d constraints: proof is %x, want %x", round, sys.NumConstraints, a, b)
	}
}

// testProver makes a prover, freed when the test ends.
func testProver(t testing.TB, d *Device, sys *r1cs.System, from Points, opts KeyOptions) *Prover {
	t.Helper()
	c, err := d.NewCircuit(t.Context(), "test", sys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	k, err := c.NewKey(t.Context(), "test", from, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	p, err := NewProver("test", c, k, opts.Prover)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func TestProofEndsWithItsContext(t *testing.T) {
	d := testDevice(t)
	g := rand.New(rand.NewPCG(3, 3))
	sys := randomSystem(g, false)
	p := testProver(t, d, sys, KeyPoints{testKey(t, sys)}, small)
	w := randomWitness(g, sys)
	used := d.Ledger().Used()
	for _, last := range []string{StageUpload, groth16.StageEvaluate, groth16.StageTransforms, groth16.StageH, groth16.StageBG1} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := p.Prove(ctx, w, ProveOptions{StageHook: func(s groth16.Stage) {
			if s.Name == last {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %s: %v", last, err)
		}
	}
	if _, err := p.Prove(t.Context(), w, ProveOptions{}); err != nil {
		t.Errorf("after cancelled proofs: %v", err)
	}
	if got := d.Ledger().Used(); got != used {
		t.Errorf("%d bytes in use after cancelled proofs, %d before", got, used)
	}
}

func TestKeyOfAnotherCircuitIsRefused(t *testing.T) {
	d := testDevice(t)
	g := rand.New(rand.NewPCG(4, 4))
	sys, other := randomSystem(g, false), randomSystem(g, false)
	c, err := d.NewCircuit(t.Context(), "test", other)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.NewKey(t.Context(), "test", KeyPoints{testKey(t, sys)}, KeyOptions{}); !errors.Is(err, groth16.ErrParamsForeign) {
		t.Errorf("error is %v", err)
	}
}

func TestProverKeepsTheBudget(t *testing.T) {
	l := testLibrary(t)
	infos, err := l.Devices()
	if err != nil {
		t.Fatal(err)
	}
	d, err := l.OpenDevice(infos[0], 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	sys := randomSystem(rand.New(rand.NewPCG(5, 5)), false)
	if _, err := d.NewCircuit(t.Context(), "test", sys); !errors.Is(err, ErrMemory) {
		t.Errorf("error is %v", err)
	}
	if used := d.Ledger().Used(); used != 0 {
		t.Errorf("%d bytes are still reserved", used)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
