package cpu

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/pkg/witness"
	"github.com/proofmill/proofmill/services/gpuprove"
	"github.com/proofmill/proofmill/services/internal/fault"
	"github.com/proofmill/proofmill/services/internal/params"
)

// Names of the backend's stages beside those of package groth16.
const (
	StageLoad   = "load_key" // only where the key was not in memory
	StageDecode = "decode"
)

// ParamsDir is a directory of parameter files.
type ParamsDir = params.Dir

// Options are the backend's choices. The zero value will do.
type Options struct {
	Params ParamsDir
	// Circuits to serve; each must be good, or Open fails. Empty means all whose parameter files are in the directory: files that
	// are not good are then left out and logged, and Open fails only if none is left.
	Circuits []string
	// Workers is how many goroutines one proof uses; 0 means all processors.
	Workers int
	// KeyBytes bounds the keys in memory, but one key is always held; 0 means no limit.
	KeyBytes int64
	// Systems are the circuits, shared with other services of the process; nil makes its own.
	Systems *engine.Systems
	// Log gets what is left out; nil means slog.Default().
	Log *slog.Logger
}

// Backend proves on processors.
type Backend struct {
	opts     Options
	circuits map[string]engine.Circuit
	keys     []wire.Key
	loaded   *keyring
}

var _ gpuprove.Backend = (*Backend)(nil)

// Open checks the parameter files of the circuits to serve: that they are there, that their policy, layout and counts are right, and
// that the verifying key beside each is the same as in it. It builds each circuit, which takes seconds for the largest, and loads no
// keys. Errors have the codes parameters_missing, parameters_foreign or unsupported_circuit.
func Open(ctx context.Context, o Options) (*Backend, error) {
	if o.Systems == nil {
		o.Systems = new(engine.Systems)
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	b := &Backend{opts: o, circuits: make(map[string]engine.Circuit)}
	b.loaded = newKeyring(o.KeyBytes, b.load)
	wanted := make([]engine.Circuit, 0, len(o.Circuits))
	for _, id := range o.Circuits {
		c, err := engine.ParseCircuit(id)
		if err != nil {
			return nil, wire.Errorf(wire.CodeUnsupportedCircuit, "cpu backend: %w", err)
		}
		wanted = append(wanted, c)
	}
	explicit := len(wanted) > 0
	if !explicit {
		wanted = o.Params.Present()
	}
	var failures []error
	for _, c := range wanted {
		key, err := b.check(ctx, c)
		switch {
		case err == nil:
			b.circuits[c.ID()] = c
			b.keys = append(b.keys, key)
		case ctx.Err() != nil || explicit:
			return nil, err
		default:
			failures = append(failures, err)
			o.Log.Error("circuit is not served", "circuit", c.ID(), "err", err)
		}
	}
	if len(b.keys) == 0 {
		if len(failures) > 0 {
			return nil, failures[0]
		}
		return nil, wire.Errorf(wire.CodeParametersMissing, "no parameter file of any circuit is in %s: fetch Filecoin's with `curio fetch-params SIZE` or `lotus fetch-params SIZE`", o.Params)
	}
	return b, nil
}

// check opens a circuit's parameters once.
func (b *Backend) check(ctx context.Context, c engine.Circuit) (key wire.Key, err error) {
	sys, err := b.opts.Systems.Get(ctx, c)
	if err != nil {
		return key, fault.Of(fmt.Errorf("circuit %s: %w", c.ID(), err), wire.CodeInternal)
	}
	p, err := b.opts.Params.Open(sys)
	if err != nil {
		return key, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	// A key file beside the parameters is what verifiers use: it must be theirs.
	path := groth16.VerifyingKeyPath(p.Path())
	if _, err := os.Stat(path); err == nil {
		vk, err := groth16.OpenVerifyingKey(path)
		if err != nil {
			return key, fault.Of(err, wire.CodeParametersForeign)
		}
		if !vk.Equal(p.VerifyingKey()) {
			return key, wire.Errorf(wire.CodeParametersForeign, "circuit %s: verifying key file %s is not that of the parameter file beside it: fetch both again", c.ID(), path)
		}
	}
	return wire.Key{Circuit: c.ID(), VK: params.Digest(p.VerifyingKey())}, nil
}

// load reads a circuit's whole key into memory.
func (b *Backend) load(ctx context.Context, circuit string) (prover *groth16.Prover, bytes int64, err error) {
	sys, err := b.opts.Systems.Get(ctx, b.circuits[circuit])
	if err != nil {
		return nil, 0, err
	}
	p, err := b.opts.Params.Open(sys)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	key, err := groth16.LoadKey(ctx, p, b.opts.Workers)
	if err != nil {
		return nil, 0, fault.Of(err, wire.CodeParametersForeign)
	}
	prover, err = groth16.NewProver(sys.System, key)
	if err != nil {
		return nil, 0, fault.Of(err, wire.CodeParametersForeign)
	}
	return prover, key.Bytes(), nil
}

// Keys implements gpuprove.Backend.
func (b *Backend) Keys() []wire.Key { return append([]wire.Key(nil), b.keys...) }

// Resident implements gpuprove.Backend.
func (b *Backend) Resident() []string { return b.loaded.resident() }

// Devices implements gpuprove.Backend: there are none.
func (b *Backend) Devices() []wire.Device { return nil }

// Close implements gpuprove.Backend.
func (b *Backend) Close() error {
	b.loaded.clear()
	return nil
}

// Prove implements gpuprove.Backend.
func (b *Backend) Prove(ctx context.Context, w *gpuprove.Work, stage gpuprove.Stage) (*gpuprove.Proof, error) {
	c, ok := b.circuits[w.Circuit]
	if !ok {
		return nil, wire.Errorf(wire.CodeWorkerUnavailable, "circuit %s is not served here", w.Circuit)
	}
	sys, err := b.opts.Systems.Get(ctx, c)
	if err != nil {
		return nil, err
	}
	if w.Header.R1CS != sys.R1CS {
		return nil, wire.Errorf(wire.CodeWorkerUnavailable, "circuit %s: the witness was made for constraints %x, this prover has %x: bring both to the same release",
			w.Circuit, w.Header.R1CS[:8], sys.R1CS[:8])
	}
	start := time.Now()
	prover, release, loaded, err := b.loaded.get(ctx, w.Circuit)
	if err != nil {
		return nil, err
	}
	defer release()
	if loaded {
		stage(StageLoad, start, time.Since(start))
	}
	start = time.Now()
	assignment, header, err := witness.Decode(sys.System, w.Blob)
	if err != nil {
		return nil, err
	}
	if header != w.Header {
		return nil, wire.Errorf(wire.CodeBlobCorrupt, "witness blob is of %s, partition %d, not of %s, partition %d", header.Circuit, header.Partition, w.Circuit, w.Header.Partition)
	}
	stage(StageDecode, start, time.Since(start))
	proof, err := prover.Prove(ctx, assignment, groth16.ProveOptions{
		Workers: b.opts.Workers, StageHook: func(s groth16.Stage) { stage(s.Name, s.Start, s.Duration) },
	})
	if err != nil {
		return nil, err
	}
	bytes := proof.Bytes()
	return &gpuprove.Proof{Bytes: bytes[:]}, nil
}
