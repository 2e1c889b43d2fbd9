package cpu

import (
	"context"
	"slices"
	"sync"

	"github.com/proofmill/proofmill/pkg/groth16"
)

// keyring holds the provers of some circuits, each with its key, under a budget of bytes. The one used longest ago leaves first; one
// in use never does, so that the budget may be exceeded while several are in use.
type keyring struct {
	budget int64
	load   func(ctx context.Context, circuit string) (*groth16.Prover, int64, error)

	mu    sync.Mutex
	slots map[string]*keySlot
	tick  int64 // rises with each use
}

type keySlot struct {
	ready  chan struct{} // closed when loaded or failed
	prover *groth16.Prover
	err    error
	bytes  int64
	users  int
	used   int64
}

func newKeyring(budget int64, load func(ctx context.Context, circuit string) (*groth16.Prover, int64, error)) *keyring {
	return &keyring{budget: budget, load: load, slots: make(map[string]*keySlot)}
}

// get gives a circuit's prover, loading its key if it is not held, which loaded reports. It blocks until the key is there or ctx
// ends. Release it after use.
func (k *keyring) get(ctx context.Context, circuit string) (prover *groth16.Prover, release func(), loaded bool, err error) {
	for {
		slot, mine := k.claim(circuit)
		if mine {
			prover, bytes, err := k.load(ctx, circuit)
			k.settle(circuit, slot, prover, bytes, err)
		}
		select {
		case <-slot.ready:
		case <-ctx.Done():
			k.release(slot)
			return nil, nil, false, context.Cause(ctx)
		}
		if slot.err == nil {
			return slot.prover, func() { k.release(slot) }, mine, nil
		}
		k.release(slot)
		if mine || ctx.Err() != nil {
			return nil, nil, false, slot.err
		}
		// It failed for another caller, perhaps only because that one gave up.
	}
}

func (k *keyring) claim(circuit string) (slot *keySlot, mine bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	slot, ok := k.slots[circuit]
	if !ok {
		slot = &keySlot{ready: make(chan struct{})}
		k.slots[circuit] = slot
	}
	slot.users++
	k.tick++
	slot.used = k.tick
	return slot, !ok
}

// settle makes room for a key that was just loaded, or forgets one that could not be.
func (k *keyring) settle(circuit string, slot *keySlot, prover *groth16.Prover, bytes int64, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	slot.prover, slot.bytes, slot.err = prover, bytes, err
	if err != nil {
		delete(k.slots, circuit)
	}
	close(slot.ready)
	k.trim()
}

func (k *keyring) release(slot *keySlot) {
	k.mu.Lock()
	defer k.mu.Unlock()
	slot.users--
	k.trim()
}

// trim drops keys until the budget holds or all are in use. The lock is held.
func (k *keyring) trim() {
	if k.budget <= 0 {
		return
	}
	for {
		var total int64
		oldest := ""
		for circuit, slot := range k.slots {
			total += slot.bytes
			if slot.users == 0 && (oldest == "" || slot.used < k.slots[oldest].used) {
				oldest = circuit
			}
		}
		if total <= k.budget || oldest == "" || len(k.slots) == 1 {
			return
		}
		delete(k.slots, oldest)
	}
}

func (k *keyring) resident() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	held := make([]string, 0, len(k.slots))
	for circuit, slot := range k.slots {
		select {
		case <-slot.ready:
			held = append(held, circuit)
		default:
		}
	}
	slices.Sort(held)
	return held
}

func (k *keyring) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.slots)
}
