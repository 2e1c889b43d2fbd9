package engine

import (
	"context"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/proofmill/proofmill/pkg/circuit"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

// System is a built circuit with its digest.
type System struct {
	*r1cs.System
	Circuit Circuit
	R1CS    [32]byte
}

// Systems builds circuits on demand and keeps them. The zero value is ready; it may be used by any
// number of goroutines.
type Systems struct {
	mu    sync.Mutex
	built map[Circuit]*building
}

type building struct {
	done chan struct{}
	sys  *System
	err  error
}

// Get returns the circuit's system, building it if nobody did. It blocks while it is being built,
// which takes seconds for the largest, or until ctx ends.
func (s *Systems) Get(ctx context.Context, c Circuit) (*System, error) {
	s.mu.Lock()
	b, ok := s.built[c]
	if !ok {
		if s.built == nil {
			s.built = make(map[Circuit]*building)
		}
		b = &building{done: make(chan struct{})}
		s.built[c] = b
	}
	s.mu.Unlock()
	if !ok {
		b.sys, b.err = buildSystem(ctx, c)
		if b.err != nil { // the next caller tries again
			s.mu.Lock()
			delete(s.built, c)
			s.mu.Unlock()
		}
		close(b.done)
	}
	select {
	case <-b.done:
		return b.sys, b.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func buildSystem(ctx context.Context, c Circuit) (*System, error) {
	sys, err := circuit.Build(c.Kind, c.Size)
	if err != nil {
		return nil, err
	}
	out := &System{System: sys, Circuit: c}
	known, ok := circuit.KnownDigest(c.Kind, c.Size)
	if !ok {
		d, err := sys.Digest(ctx)
		if err != nil {
			return nil, err
		}
		known = d.R1CS
	}
	if n, err := hex.Decode(out.R1CS[:], []byte(known)); err != nil || n != len(out.R1CS) {
		return nil, fmt.Errorf("circuit %s: digest %q is not 64 hexadecimal digits", c, known)
	}
	return out, nil
}
