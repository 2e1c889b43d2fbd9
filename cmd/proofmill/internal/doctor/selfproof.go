package doctor

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/demo"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/gpu"
	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/witness"
)

// selfProofScratch is enough device memory for the circuit of the self-proof.
const selfProofScratch = 1 << 30

// Fixture is all that a self-proof needs: a request whose proof by the reference is known, its circuit, witness and parameters.
type Fixture struct {
	Golden  *demo.Golden
	Circuit engine.Circuit
	System  *engine.System
	Witness *witness.Witness
	Params  *groth16.Params
}

// Prepare builds the fixture. Its test parameters are made in dir, unless they are there: some seconds and 50 MB. It blocks until done
// or ctx ends. Close it after use.
func Prepare(ctx context.Context, dir string) (*Fixture, error) {
	requests, err := demo.Requests()
	if err != nil {
		return nil, err
	}
	for i := range requests {
		if requests[i].Golden != nil {
			return prepare(ctx, &requests[i], dir)
		}
	}
	return nil, errors.New("self-proof: no request of the demo has a golden proof")
}

func prepare(ctx context.Context, r *demo.Request, dir string) (*Fixture, error) {
	f := &Fixture{Golden: r.Golden, Circuit: r.Circuit}
	var systems engine.Systems
	sys, err := systems.Get(ctx, r.Circuit)
	if err != nil {
		return nil, err
	}
	f.System = sys
	job, err := engine.Open(ctx, r.Request, engine.Options{})
	if err != nil {
		return nil, err
	}
	if f.Witness, err = job.Witness(ctx, sys, 0); err != nil {
		return nil, err
	}
	path, err := testParams(ctx, r, sys, dir)
	if err != nil {
		return nil, err
	}
	f.Params, err = groth16.OpenParams(path, groth16.PolicyTest)
	return f, err
}

// testParams gives the path of the request's test parameters, which it makes where they are not whole.
func testParams(ctx context.Context, r *demo.Request, sys *engine.System, dir string) (string, error) {
	name, err := filecoin.ParamsFile(r.Circuit.Kind, r.Circuit.Size)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	marker, err := groth16.ReadMarker(path)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err == nil && marker != nil && marker.Digests.SHA256 == r.SHA256 && info.Size() == marker.Digests.Bytes {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // parameters are public
		return "", err
	}
	result, err := groth16.SetupFile(ctx, sys.System, path, groth16.SetupOptions{
		Toxic: r.Toxic, Circuit: r.Circuit.String(), R1CS: hex.EncodeToString(sys.R1CS[:]),
	})
	if err != nil {
		return "", err
	}
	if result.Digests.SHA256 != r.SHA256 {
		return "", fmt.Errorf("test parameters of %s have digest %s, the reference's have %s", r.Circuit, result.Digests.SHA256, r.SHA256)
	}
	return path, nil
}

// Close closes the parameter file.
func (f *Fixture) Close() error { return f.Params.Close() }

// ProveCPU makes the fixture's proof on the processor.
func (f *Fixture) ProveCPU(ctx context.Context) (*groth16.Proof, error) {
	key, err := groth16.LoadKey(ctx, f.Params, 0)
	if err != nil {
		return nil, err
	}
	prover, err := groth16.NewProver(f.System.System, key)
	if err != nil {
		return nil, err
	}
	return prover.Prove(ctx, f.Witness, groth16.ProveOptions{R: &f.Golden.R, S: &f.Golden.S})
}

// ProveGPU makes the fixture's proof on a device, which it opens and closes.
func (f *Fixture) ProveGPU(ctx context.Context, lib *gpu.Library, info gpu.Info, budget int64) (proof *groth16.Proof, err error) {
	d, err := lib.OpenDevice(info, budget)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	const name = "self-proof"
	c, err := d.NewCircuit(ctx, name, f.System.System)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	k, err := c.NewKey(ctx, name, f.Params, gpu.KeyOptions{Copies: 1})
	if err != nil {
		return nil, err
	}
	defer k.Close()
	p, err := gpu.NewProver(name, c, k, gpu.ProverOptions{ScratchBytes: selfProofScratch})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Prove(ctx, f.Witness, gpu.ProveOptions{R: &f.Golden.R, S: &f.Golden.S})
}

// SelfProof makes the fixture's proof on what name says, and compares it with the reference's, byte by byte.
func (f *Fixture) SelfProof(name string, prove func() (*groth16.Proof, error)) Check {
	c := Check{Name: "self-proof " + name, Status: OK}
	start := time.Now()
	proof, err := prove()
	if err != nil {
		c.Status, c.Text, c.Do = Failed, err.Error(), "read the text: the prover cannot work here"
		return c
	}
	took := time.Since(start)
	got := proof.Bytes()
	c.Details = map[string]any{"circuit": f.Circuit.ID(), "proof": hex.EncodeToString(got[:]), "seconds": took.Seconds()}
	if !bytes.Equal(got[:], f.Golden.Proof) {
		c.Status = Failed
		c.Text = fmt.Sprintf("the proof of %s differs from the reference's from byte %d of %d", f.Circuit, differs(got[:], f.Golden.Proof), len(f.Golden.Proof))
		c.Do = "do not prove with it: the hardware or the build computes wrongly"
		return c
	}
	c.Text = fmt.Sprintf("%s, %d bytes equal the reference's, %v with loading the key", f.Circuit, len(got), took.Round(time.Millisecond))
	return c
}

// differs is the first place where a and b do.
func differs(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
