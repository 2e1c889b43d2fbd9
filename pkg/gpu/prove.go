package gpu

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/r1cs"
	"github.com/proofmill/proofmill/pkg/witness"
)

// StageUpload is the stage of a proof that brings the compact witness to the device. The other stages are those of package groth16.
const StageUpload = "upload"

// ProverOptions are the choices of a prover. The zero value will do.
type ProverOptions struct {
	InFlight     int   // proofs computed at once, each with its own memory; 1 if 0
	ScratchBytes int64 // most scratch memory of one proof; what the ledger has left, shared by the proofs in flight, if 0
}

// ProveOptions are the choices of a proof. The zero value will do.
type ProveOptions struct {
	R, S      *fr.Element         // the proof's randomness, both or none; fixed only in tests
	StageHook func(groth16.Stage) // called in the proving goroutine at the end of each stage
	Device    func([]DeviceStage) // called once with the device's own times of the parts of the proof
}

// Prover makes proofs of one circuit with one key on a device. It may be used by any number of goroutines at once; those beyond the
// number of proofs in flight wait.
type Prover struct {
	d       *Device
	circuit *Circuit
	key     *Key
	plans   plans
	slots   chan *slot
	all     []*slot
}

// NewProver plans the proofs of a circuit with a key, both on the same device, and takes all memory that they need, under a name for
// the ledger. Close it after use, and before its circuit and key.
func NewProver(name string, c *Circuit, k *Key, opts ProverOptions) (*Prover, error) {
	p := &Prover{d: c.d, circuit: c, key: k}
	if err := p.open(name, max(opts.InFlight, 1), opts.ScratchBytes); err != nil {
		p.Close()
		return nil, fmt.Errorf("prover %s: %w", name, err)
	}
	return p, nil
}

func (p *Prover) open(name string, inFlight int, scratch int64) error {
	if scratch <= 0 {
		scratch = max(scratchWithin(p.circuit, p.d.ledger.Free(), inFlight), 1)
	}
	if err := p.plans.make(p.circuit, p.key, scratch); err != nil {
		return err
	}
	plan := planSlot(p.circuit, p.plans.scratch())
	p.slots = make(chan *slot, inFlight)
	for range inFlight {
		s, err := p.d.newSlot(name, &plan)
		p.all = append(p.all, s)
		if err != nil {
			return err
		}
		p.slots <- s
	}
	return nil
}

// Close frees the prover's memory. No proof may be running.
func (p *Prover) Close() {
	for _, s := range p.all {
		s.free()
	}
	p.all = nil
	p.plans.free()
}

// Prove makes a proof of a witness. It does not check that the witness satisfies the circuit: if it does not, the proof is not valid, so
// verify each proof before it leaves. It blocks until done or ctx ends, which it looks at between the stages.
func (p *Prover) Prove(ctx context.Context, w *witness.Witness, opts ProveOptions) (*groth16.Proof, error) {
	proof, err := p.prove(ctx, w, &opts)
	if err != nil {
		return nil, fmt.Errorf("prove on %s: %w", p.d.info.UUID, err)
	}
	return proof, nil
}

func (p *Prover) prove(ctx context.Context, w *witness.Witness, opts *ProveOptions) (*groth16.Proof, error) {
	sys := p.circuit.sys
	if w.System.NumAux != sys.NumAux || len(w.Inputs) != sys.NumInputs || w.System.NumConstraints != sys.NumConstraints ||
		len(w.Words) != p.circuit.layout.Words || len(w.Elements) != p.circuit.layout.Elements {
		return nil, errors.New("witness is of another circuit than the prover")
	}
	r, s, err := opts.randomness()
	if err != nil {
		return nil, err
	}
	select {
	case slot := <-p.slots:
		defer func() { p.slots <- slot }()
		return p.run(ctx, slot, w, r, s, opts)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// run makes a proof in a slot. Each stage waits for the device.
func (p *Prover) run(ctx context.Context, s *slot, w *witness.Witness, rnd, snd *fr.Element, opts *ProveOptions) (*groth16.Proof, error) {
	c := p.circuit
	var m results
	var proof *groth16.Proof
	for _, stage := range []struct {
		name string
		run  func() error
	}{
		{StageUpload, func() error { return s.upload(w) }},
		{groth16.StageExpand, func() error { return c.expand(s.stream, s.words, s.elements, s.aux) }},
		{groth16.StageEvaluate, func() error {
			return errors.Join(
				c.evaluate(s.stream, r1cs.MatrixA, s.inputs, s.aux, s.a, w.Inputs),
				c.evaluate(s.stream, r1cs.MatrixB, s.inputs, s.aux, s.b, w.Inputs))
		}},
		{groth16.StageTransforms, func() error { return c.quotient(s.stream, s.a, s.b, s.c) }},
		{groth16.StageH, func() (err error) {
			m.h, err = p.plans.h.run(s.stream, s.a, 0, p.key.counts.H, s.scratch)
			return err
		}},
		{groth16.StageL, func() (err error) {
			m.l, err = sumSection(s, c, &c.l, p.key.l, p.plans.l, p.plans.ones1)
			return err
		}},
		{groth16.StageA, func() (err error) {
			m.a, err = sumSection(s, c, &c.a, p.key.a, p.plans.a, p.plans.ones1)
			return err
		}},
		{groth16.StageBG1, func() (err error) {
			m.b1, err = sumSection(s, c, &c.b, p.key.bg1, p.plans.b1, p.plans.ones1)
			return err
		}},
		{groth16.StageBG2, func() (err error) {
			m.b2, err = sumSection(s, c, &c.b, p.key.bg2, p.plans.b2, p.plans.ones2)
			return err
		}},
		{groth16.StageFinish, func() error {
			proof = m.finish(p.key.vk, rnd, snd)
			if proof.A.IsInfinity() || proof.B.IsInfinity() || proof.C.IsInfinity() {
				return errors.New("a point of the proof is at infinity")
			}
			return nil
		}},
	} {
		start := time.Now()
		err := stage.run()
		// Whatever happened, nothing of this proof may still be running when the slot is used again.
		err = errors.Join(err, s.stream.wait(), context.Cause(ctx))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", stage.name, err)
		}
		if opts.StageHook != nil {
			opts.StageHook(groth16.Stage{Name: stage.name, Start: start, Duration: time.Since(start)})
		}
	}
	times, err := s.stream.stages()
	if err != nil {
		return nil, err
	}
	if opts.Device != nil {
		opts.Device(times)
	}
	return proof, nil
}

func (o *ProveOptions) randomness() (r, s *fr.Element, err error) {
	if (o.R == nil) != (o.S == nil) {
		return nil, nil, errors.New("randomness r and s must be given together")
	}
	if o.R != nil {
		return o.R, o.S, nil
	}
	r, s = new(fr.Element), new(fr.Element)
	for _, e := range []*fr.Element{r, s} {
		if _, err := e.SetRandom(); err != nil {
			return nil, nil, fmt.Errorf("randomness: %w", err)
		}
	}
	return r, s, nil
}
