package cuda

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/gpu"
	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/pkg/witness"
	"github.com/proofmill/proofmill/services/gpuprove"
	"github.com/proofmill/proofmill/services/internal/fault"
	"github.com/proofmill/proofmill/services/internal/params"
)

// Names of the backend's stages beside those of packages gpu and groth16.
const (
	StageLoad   = "load_key" // only where the key was not on the device
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
	// Library is the path of the CUDA library; empty means the usual places, see gpu.Open.
	Library string
	// Devices are the UUIDs of the devices to use; empty means all that CUDA_VISIBLE_DEVICES leaves.
	Devices []string
	// DeviceBytes bounds the memory taken on each device; 0 means all that is free.
	DeviceBytes int64
	// ScratchBytes bounds the scratch memory of one proof; 0 means what is free when its circuit is loaded.
	ScratchBytes int64
	// InFlight is how many proofs of one circuit a device computes at once; 0 means one.
	InFlight int
	// Systems are the circuits, shared with other services of the process; nil makes its own.
	Systems *engine.Systems
	// Log gets what is left out; nil means slog.Default().
	Log *slog.Logger
}

// Backend proves on GPUs.
type Backend struct {
	opts     Options
	circuits map[string]engine.Circuit
	keys     []wire.Key
	cards    []*card
}

var _ gpuprove.Backend = (*Backend)(nil)

// Open loads the CUDA library, opens the devices, and checks the parameter files of the circuits to serve. It builds each circuit,
// which takes seconds for the largest, and loads no keys. Without a usable GPU the error wraps gpu.ErrUnavailable and has the code
// worker_unavailable; others have the codes parameters_missing, parameters_foreign or unsupported_circuit.
func Open(ctx context.Context, o Options) (*Backend, error) {
	if o.Systems == nil {
		o.Systems = new(engine.Systems)
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	b := &Backend{opts: o, circuits: make(map[string]engine.Circuit)}
	err := b.openCards()
	if err == nil {
		err = b.serve(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Backend) openCards() error {
	lib, err := gpu.Open(b.opts.Library)
	if err != nil {
		return wire.Errorf(wire.CodeWorkerUnavailable, "%w", err)
	}
	infos, err := lib.Devices()
	if err != nil {
		return wire.Errorf(wire.CodeWorkerUnavailable, "%w", err)
	}
	for _, uuid := range b.opts.Devices {
		if !slices.ContainsFunc(infos, func(i gpu.Info) bool { return i.UUID == uuid }) {
			return wire.Errorf(wire.CodeWorkerUnavailable, "device %s: %w: it is not among those that CUDA_VISIBLE_DEVICES leaves", uuid, gpu.ErrUnavailable)
		}
	}
	for _, info := range infos {
		if len(b.opts.Devices) > 0 && !slices.Contains(b.opts.Devices, info.UUID) {
			continue
		}
		d, err := lib.OpenDevice(info, b.opts.DeviceBytes)
		if err != nil {
			return wire.Errorf(wire.CodeWorkerUnavailable, "%w", err)
		}
		b.opts.Log.Info("device opened", "device", info.UUID, "name", info.Name, "budget", d.Ledger().Budget(), "library", lib.Path())
		b.cards = append(b.cards, newCard(d, b.load))
	}
	return nil
}

// serve finds the circuits that can be proved.
func (b *Backend) serve(ctx context.Context) error {
	var wanted []engine.Circuit
	for _, id := range b.opts.Circuits {
		c, err := engine.ParseCircuit(id)
		if err != nil {
			return wire.Errorf(wire.CodeUnsupportedCircuit, "cuda backend: %w", err)
		}
		wanted = append(wanted, c)
	}
	explicit := len(wanted) > 0
	if !explicit {
		wanted = b.opts.Params.Present()
	}
	var failures []error
	for _, c := range wanted {
		key, err := b.check(ctx, c)
		switch {
		case err == nil:
			b.circuits[c.ID()] = c
			b.keys = append(b.keys, key)
		case ctx.Err() != nil || explicit:
			return err
		default:
			failures = append(failures, err)
			b.opts.Log.Error("circuit is not served", "circuit", c.ID(), "err", err)
		}
	}
	switch {
	case len(b.keys) > 0:
		return nil
	case len(failures) > 0:
		return failures[0]
	default:
		return wire.Errorf(wire.CodeParametersMissing, "no parameter file of any circuit is in %s: fetch Filecoin's with `curio fetch-params SIZE` or `lotus fetch-params SIZE`", b.opts.Params)
	}
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
	return wire.Key{Circuit: c.ID(), VK: params.Digest(p.VerifyingKey())}, p.Close()
}

// load brings a circuit and its key to a device.
func (b *Backend) load(ctx context.Context, d *gpu.Device, circuit string) (r *resident, err error) {
	sys, err := b.opts.Systems.Get(ctx, b.circuits[circuit])
	if err != nil {
		return nil, err
	}
	p, err := b.opts.Params.Open(sys)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	r = new(resident)
	if r.circuit, err = d.NewCircuit(ctx, circuit, sys.System); err != nil {
		return nil, err
	}
	options := gpu.KeyOptions{Prover: gpu.ProverOptions{InFlight: b.opts.InFlight, ScratchBytes: b.opts.ScratchBytes}}
	if len(b.circuits) > len(b.cards) {
		// Devices have to change circuits: copies would be made anew each time, and leave no room for a second circuit.
		options.Copies = 1
	}
	if r.key, err = r.circuit.NewKey(ctx, circuit, p, options); err == nil {
		r.prover, err = gpu.NewProver(circuit, r.circuit, r.key, options.Prover)
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// Keys implements gpuprove.Backend.
func (b *Backend) Keys() []wire.Key { return slices.Clone(b.keys) }

// Resident implements gpuprove.Backend.
func (b *Backend) Resident() []string {
	var held []string
	for _, c := range b.cards {
		held = append(held, c.resident()...)
	}
	slices.Sort(held)
	return slices.Compact(held)
}

// Devices implements gpuprove.Backend.
func (b *Backend) Devices() []wire.Device {
	out := make([]wire.Device, 0, len(b.cards))
	for _, c := range b.cards {
		info := c.device.Info()
		out = append(out, wire.Device{
			UUID: info.UUID, Name: info.Name,
			TotalBytes: uint64(info.MemoryBytes), FreeBytes: uint64(c.device.Ledger().Free()), //nolint:gosec // counts and sizes are far below the limit
		})
	}
	return out
}

// Close implements gpuprove.Backend.
func (b *Backend) Close() error {
	var errs []error
	for _, c := range b.cards {
		errs = append(errs, c.close())
	}
	b.cards = nil
	return errors.Join(errs...)
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
	assignment, header, err := witness.Decode(sys.System, w.Blob)
	if err != nil {
		return nil, err
	}
	if header != w.Header {
		return nil, wire.Errorf(wire.CodeBlobCorrupt, "witness blob is of %s, partition %d, not of %s, partition %d", header.Circuit, header.Partition, w.Circuit, w.Header.Partition)
	}
	stage(StageDecode, start, time.Since(start))
	card, done, err := b.choose(w.Circuit)
	if err != nil {
		return nil, err
	}
	defer done()
	start = time.Now()
	r, release, loaded, err := card.get(ctx, w.Circuit)
	if err != nil {
		return nil, classify(err)
	}
	defer release()
	if loaded {
		stage(StageLoad, start, time.Since(start))
	}
	proof, err := r.prover.Prove(ctx, assignment, gpu.ProveOptions{
		StageHook: func(s groth16.Stage) { stage(s.Name, s.Start, s.Duration) },
	})
	if err != nil {
		return nil, classify(err)
	}
	bytes := proof.Bytes()
	return &gpuprove.Proof{Bytes: bytes[:], Device: card.device.Info().UUID}, nil
}

// choose takes the device with the least to do among those without a fault; of equal ones, one that holds the circuit's key.
func (b *Backend) choose(circuit string) (*card, func(), error) {
	var best *card
	var faults []error
	for _, c := range b.cards {
		if err := c.device.Fault(); err != nil {
			faults = append(faults, err)
			continue
		}
		if best == nil || c.load(circuit) < best.load(circuit) {
			best = c
		}
	}
	if best == nil {
		return nil, nil, wire.Errorf(wire.CodeDeviceLost, "no device is left: %w: start the process anew", errors.Join(faults...))
	}
	done := best.enter()
	return best, done, nil
}

// classify gives device errors their codes.
func classify(err error) error {
	switch {
	case errors.Is(err, gpu.ErrPoisoned):
		return wire.Errorf(wire.CodeDeviceLost, "%w", err)
	case errors.Is(err, gpu.ErrMemory):
		return wire.Errorf(wire.CodeDeviceMemory, "%w", err)
	default:
		return fault.Of(err, wire.CodeInternal)
	}
}
