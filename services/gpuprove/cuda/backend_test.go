package cuda_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/gpu"
	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/pkg/witness"
	"github.com/proofmill/proofmill/services/gpuprove"
	"github.com/proofmill/proofmill/services/gpuprove/cuda"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// library is a library to test with: a real one where PROOFMILL_CUDA_LIBRARY names it, else the one that does the same on the host.
func library(t *testing.T) string {
	t.Helper()
	path := os.Getenv("PROOFMILL_CUDA_LIBRARY")
	if path == "" {
		path = filepath.Join("..", "..", "..", "build", "cuda", "libproofmill_host.so")
	}
	if _, err := os.Stat(path); err != nil {
		t.Skip("no library to test with: run `make -C cuda host-library`, or set PROOFMILL_CUDA_LIBRARY on a machine with a GPU")
	}
	return path
}

// circuits are small ones with different keys.
var circuits = []string{"wpost-2k", "wpost-16k"}

// fixture is a directory with parameters of the circuits.
type fixture struct {
	dir     cuda.ParamsDir
	systems *engine.Systems
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	if testing.Short() {
		t.Skip("parameters take seconds; run without -short")
	}
	f := &fixture{dir: cuda.ParamsDir{Path: t.TempDir(), AllowTest: true}, systems: new(engine.Systems)}
	for _, id := range circuits {
		sys := f.system(t, id)
		path, err := f.dir.File(sys.Circuit)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := groth16.SetupFile(t.Context(), sys.System, path, groth16.SetupOptions{Circuit: id}); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func (f *fixture) system(t *testing.T, id string) *engine.System {
	t.Helper()
	c, err := engine.ParseCircuit(id)
	if err != nil {
		t.Fatal(err)
	}
	sys, err := f.systems.Get(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return sys
}

func (f *fixture) open(t *testing.T, o cuda.Options) *cuda.Backend {
	t.Helper()
	o.Params, o.Systems, o.Library = f.dir, f.systems, library(t)
	o.ScratchBytes = 1 << 30
	b, err := cuda.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// work is a partition whose variables are all zero, which satisfies nothing: backends do not look.
func (f *fixture) work(t *testing.T, id string) *gpuprove.Work {
	t.Helper()
	sys := f.system(t, id)
	h := witness.Header{Circuit: id, R1CS: sys.R1CS, Partition: 3}
	blob, err := witness.Encode(h, witness.New(sys.System))
	if err != nil {
		t.Fatal(err)
	}
	return &gpuprove.Work{Circuit: id, Header: h, Blob: blob}
}

func prove(t *testing.T, b *cuda.Backend, w *gpuprove.Work) (*gpuprove.Proof, []string, error) {
	t.Helper()
	var stages []string
	p, err := b.Prove(t.Context(), w, func(name string, _ time.Time, _ time.Duration) { stages = append(stages, name) })
	return p, stages, err
}

func TestBackend(t *testing.T) {
	library(t)
	f := newFixture(t)
	t.Run("keys are loaded when they are needed", func(t *testing.T) { testKeys(t, f) })
	t.Run("what does not fit is refused", func(t *testing.T) { testRefusals(t, f) })
}

func testKeys(t *testing.T, f *fixture) {
	t.Helper()
	b := f.open(t, cuda.Options{Circuits: circuits})
	if got := b.Resident(); len(got) != 0 {
		t.Errorf("resident before work: %v", got)
	}
	if got := b.Devices(); len(got) == 0 || got[0].FreeBytes == 0 || got[0].UUID == "" {
		t.Fatalf("devices: %+v", got)
	}
	free := []uint64{b.Devices()[0].FreeBytes}
	for i, id := range circuits {
		for again := range 2 - i { // a second time for the first one
			proof, stages, err := prove(t, b, f.work(t, id))
			if err != nil {
				t.Fatal(err)
			}
			if len(proof.Bytes) != wire.ProofBytes || proof.Device != b.Devices()[0].UUID {
				t.Errorf("proof of %d bytes on %q", len(proof.Bytes), proof.Device)
			}
			if loaded := slices.Contains(stages, cuda.StageLoad); loaded != (again == 0) {
				t.Errorf("%s, proof %d: stages %v", id, again, stages)
			}
		}
		free = append(free, b.Devices()[0].FreeBytes)
		if got := b.Resident(); len(got) != i+1 || !slices.Contains(got, id) {
			t.Errorf("resident: %v", got)
		}
	}

	// With room for the larger one and not for both, each drives the other out.
	first, second := free[0]-free[1], free[1]-free[2]
	budget := int64(max(first, second) + min(first, second)/2)
	b = f.open(t, cuda.Options{Circuits: circuits, DeviceBytes: budget})
	for _, id := range circuits {
		_, stages, err := prove(t, b, f.work(t, id))
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Resident(); !slices.Equal(got, []string{id}) || !slices.Contains(stages, cuda.StageLoad) {
			t.Errorf("after %s: resident %v, stages %v", id, got, stages)
		}
	}
}

func testRefusals(t *testing.T, f *fixture) {
	t.Helper()
	b := f.open(t, cuda.Options{})
	if got := len(b.Keys()); got != len(circuits) {
		t.Errorf("%d keys", got)
	}
	good := f.work(t, circuits[0])
	for name, test := range map[string]struct {
		change func(w *gpuprove.Work)
		code   wire.Code
	}{
		"unknown circuit":   {func(w *gpuprove.Work) { w.Circuit = "porep-32g" }, wire.CodeWorkerUnavailable},
		"other constraints": {func(w *gpuprove.Work) { w.Header.R1CS[0] ^= 1 }, wire.CodeWorkerUnavailable},
		"other job":         {func(w *gpuprove.Work) { w.Header.Job[0] ^= 1 }, wire.CodeBlobCorrupt},
		"damaged blob":      {func(w *gpuprove.Work) { w.Blob = slices.Clone(w.Blob); w.Blob[len(w.Blob)-1] ^= 1 }, 0},
	} {
		w := *good
		test.change(&w)
		if _, _, err := prove(t, b, &w); err == nil || test.code != 0 && !errors.Is(err, test.code) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := cuda.Open(t.Context(), cuda.Options{Library: library(t), Devices: []string{"GPU-none"}}); !errors.Is(err, gpu.ErrUnavailable) {
		t.Errorf("device that is not there: %v", err)
	}
	if _, err := cuda.Open(t.Context(), cuda.Options{Library: filepath.Join(t.TempDir(), "none.so")}); !errors.Is(err, wire.CodeWorkerUnavailable) {
		t.Errorf("library that is not there: %v", err)
	}
	small, err := cuda.Open(t.Context(), cuda.Options{Library: library(t), Params: f.dir, Systems: f.systems, DeviceBytes: 1 << 12})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := prove(t, small, good); !errors.Is(err, wire.CodeDeviceMemory) {
		t.Errorf("too little memory: %v", err)
	}
	if err := small.Close(); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Prove(ctx, good, func(string, time.Time, time.Duration) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
}
