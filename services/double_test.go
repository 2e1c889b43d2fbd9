package services_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/services/gpuprove"
	"github.com/proofmill/proofmill/services/internal/params"
)

// double stands in for a backend: it has the reference's proofs of the fixtures, which hold, and does to each call what the test
// wants. Everything around it is real.
type double struct {
	keys   []wire.Key
	proofs map[string][][]byte
	calls  atomic.Int64
	// meddle, if set, runs in each call, numbered from 1. A proof or an error that it returns is the backend's.
	meddle func(ctx context.Context, call int, w *gpuprove.Work) ([]byte, error)
}

func newDouble(t testing.TB, meddle func(ctx context.Context, call int, w *gpuprove.Work) ([]byte, error), names ...string) *double {
	t.Helper()
	d := &double{proofs: make(map[string][][]byte), meddle: meddle}
	for _, name := range names {
		vk, err := groth16.OpenVerifyingKey(filepath.Join(golden, name+".vk"))
		if err != nil {
			t.Fatal(err)
		}
		f := readFixture(t, name)
		id := f.circuit(t).ID()
		d.keys = append(d.keys, wire.Key{Circuit: id, VK: params.Digest(vk)})
		for k := range f.Partitions {
			d.proofs[id] = append(d.proofs[id], f.proof(t, k))
		}
	}
	return d
}

func (d *double) Keys() []wire.Key       { return d.keys }
func (d *double) Resident() []string     { return nil }
func (d *double) Devices() []wire.Device { return nil }
func (d *double) Close() error           { return nil }

func (d *double) Prove(ctx context.Context, w *gpuprove.Work, stage gpuprove.Stage) (*gpuprove.Proof, error) {
	call := int(d.calls.Add(1))
	start := time.Now()
	if d.meddle != nil {
		if proof, err := d.meddle(ctx, call, w); proof != nil || err != nil {
			return &gpuprove.Proof{Bytes: proof}, err
		}
	}
	stage(groth16.StageH, start, time.Since(start))
	return &gpuprove.Proof{Bytes: d.proofs[w.Circuit][w.Header.Partition]}, nil
}

// gate lets calls wait until the test opens it.
type gate struct {
	entered chan struct{} // receives one value a call
	open    chan struct{}
}

func newGate() *gate { return &gate{entered: make(chan struct{}, 64), open: make(chan struct{})} }

func (g *gate) wait(ctx context.Context) error {
	g.entered <- struct{}{}
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g *gate) await(t testing.TB) {
	t.Helper()
	select {
	case <-g.entered:
	case <-time.After(patience):
		t.Fatal("no work came")
	}
}
