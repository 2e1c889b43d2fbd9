package witness

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"golang.org/x/sync/errgroup"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// Digest computes the digest of w, as [DigestOf] does of all its values, with those of one instance in memory at a time.
// It blocks until done or ctx ends.
func (w *Witness) Digest(ctx context.Context) (*Digest, error) {
	d := newDigester(w.Inputs)
	var values []fr.Element
	for k := range w.System.Blocks {
		b := &w.System.Blocks[k]
		if cap(values) < b.AuxStride {
			values = make([]fr.Element, b.AuxStride)
		}
		for i := range b.Repeat {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			w.ExpandInstance(k, i, values[:b.AuxStride])
			d.write(values[:b.AuxStride])
		}
	}
	return d.sum(), nil
}

// Satisfied evaluates every constraint, as [r1cs.System.Satisfied] does with all values, with those of one instance in
// memory for each of up to workers goroutines (all processors if 0): 230 MB for a PoRep of 32 GiB. It returns an
// *[r1cs.UnsatisfiedError] for the first constraint that does not hold. It blocks until done or ctx ends.
func (w *Witness) Satisfied(ctx context.Context, workers int) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	outside := w.outside()
	var mu sync.Mutex
	var first *r1cs.UnsatisfiedError
	err := w.eachInstance(ctx, workers, func(block, i int, values []fr.Element) error {
		b := &w.System.Blocks[block]
		mu.Lock()
		done := first != nil && first.Constraint < b.RowStart+i*b.Rows
		mu.Unlock()
		if done {
			return nil
		}
		err := w.System.SatisfiedInstance(block, i, w.Inputs, values, outside)
		var unsatisfied *r1cs.UnsatisfiedError
		if !errors.As(err, &unsatisfied) {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if first == nil || unsatisfied.Constraint < first.Constraint {
			first = unsatisfied
		}
		return nil
	})
	if err == nil && first != nil {
		return first
	}
	return err
}

// outside is the values of the variables that other instances than their own refer to.
func (w *Witness) outside() map[uint32]fr.Element {
	wanted := w.System.Outside()
	known := make(map[uint32]fr.Element, len(wanted))
	var values []fr.Element
	for k := range w.System.Blocks {
		b := &w.System.Blocks[k]
		for i := range b.Repeat {
			start := b.AuxStart + i*b.AuxStride
			n := 0
			for n < len(wanted) && int(wanted[n]) < start+b.AuxStride {
				n++
			}
			if n == 0 {
				continue
			}
			if len(values) < b.AuxStride {
				values = make([]fr.Element, b.AuxStride)
			}
			w.ExpandInstance(k, i, values[:b.AuxStride])
			for _, v := range wanted[:n] {
				known[v] = values[int(v)-start]
			}
			wanted = wanted[n:]
		}
	}
	return known
}

// eachInstance expands all instances, and calls do with each on up to workers goroutines.
func (w *Witness) eachInstance(ctx context.Context, workers int, do func(block, i int, values []fr.Element) error) error {
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	buffers := make(chan []fr.Element, workers)
	for range workers {
		buffers <- nil
	}
	for k := range w.System.Blocks {
		b := &w.System.Blocks[k]
		for i := range b.Repeat {
			if running.Err() != nil {
				break
			}
			g.Go(func() error {
				values := <-buffers
				if len(values) < b.AuxStride {
					values = make([]fr.Element, b.AuxStride)
				}
				defer func() { buffers <- values }()
				w.ExpandInstance(k, i, values[:b.AuxStride])
				if err := do(k, i, values[:b.AuxStride]); err != nil {
					return fmt.Errorf("block %s, instance %d: %w", b.Name, i, err)
				}
				return nil
			})
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}
