package gateway

import (
	"context"
	"errors"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/services/internal/params"
)

type verifyingKey = params.VerifyingKey

// verifier checks proofs in batches: those that arrive while a batch of the same circuit is being checked make up the next one. It
// starts no goroutines: one of the callers computes for the others.
type verifier struct {
	mu     sync.Mutex
	queues map[*verifyingKey]*verifyQueue
}

type verifyQueue struct {
	busy    bool
	waiting []*verification
}

type verification struct {
	proof   *groth16.Proof
	publics []fr.Element
	err     error
	done    chan struct{}
}

func newVerifier() *verifier { return &verifier{queues: make(map[*verifyingKey]*verifyQueue)} }

// verify is nil if the proof holds, and an error that wraps groth16.ErrInvalidProof if it does not. It blocks until its batch is
// checked or ctx ends; a batch takes some milliseconds a proof.
func (v *verifier) verify(ctx context.Context, vk *verifyingKey, proof *groth16.Proof, publics []fr.Element) error {
	mine := &verification{proof: proof, publics: publics, done: make(chan struct{})}
	v.mu.Lock()
	q := v.queues[vk]
	if q == nil {
		q = new(verifyQueue)
		v.queues[vk] = q
	}
	q.waiting = append(q.waiting, mine)
	lead := !q.busy
	q.busy = true
	v.mu.Unlock()
	if lead {
		v.work(vk, q)
	}
	select {
	case <-mine.done:
		return mine.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// work checks batches until nobody waits.
func (v *verifier) work(vk *verifyingKey, q *verifyQueue) {
	for {
		v.mu.Lock()
		batch := q.waiting
		q.waiting = nil
		if len(batch) == 0 {
			q.busy = false
			v.mu.Unlock()
			return
		}
		v.mu.Unlock()
		check(vk, batch)
	}
}

func check(vk *verifyingKey, batch []*verification) {
	proofs, publics := make([]*groth16.Proof, len(batch)), make([][]fr.Element, len(batch))
	for i, x := range batch {
		proofs[i], publics[i] = x.proof, x.publics
	}
	err := vk.VerifyBatch(proofs, publics)
	var invalid *groth16.InvalidProofsError
	switch {
	case errors.As(err, &invalid):
		for _, i := range invalid.Indices {
			batch[i].err = groth16.ErrInvalidProof
		}
	case err != nil && len(batch) > 1:
		// One that does not fit the key must not take the others along.
		for i := range batch {
			check(vk, batch[i:i+1])
		}
		return
	case err != nil:
		batch[0].err = err
	}
	for _, x := range batch {
		close(x.done)
	}
}
