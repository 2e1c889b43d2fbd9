package gpuprove

import (
	"context"
	"time"

	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/pkg/witness"
)

// Stage receives a stage of a proof when it has ended. Names are those of package groth16 where they apply.
type Stage func(name string, start time.Time, took time.Duration)

// Work is one partition to be proved.
type Work struct {
	Circuit string
	// Header is what the blob must say it is the witness of.
	Header witness.Header
	// Blob is the witness as it was stored; its SHA-256 has been compared with the one announced. The backend only reads it.
	Blob []byte
}

// Proof is what a backend made.
type Proof struct {
	Bytes  []byte // wire.ProofBytes
	Device string // UUID of the GPU; empty for a CPU
}

// Backend computes proofs. Its methods may be called by any number of goroutines at once.
type Backend interface {
	// Keys are the circuits that can be proved, with the digests of their verifying keys. They do not change.
	Keys() []wire.Key
	// Resident lists the circuits whose key lies ready, so that their work begins at once.
	Resident() []string
	// Devices are the GPUs in use, with their memory as it is now; none for a CPU.
	Devices() []wire.Device
	// Prove blocks until the proof is made or ctx ends. It does not verify the proof. Errors are classified by package wire.
	Prove(ctx context.Context, w *Work, stage Stage) (*Proof, error)
	// Close frees what the backend holds, when no Prove is running any more.
	Close() error
}
