package cuda

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/proofmill/proofmill/pkg/gpu"
)

// resident is a circuit on a device with its key, ready for proofs.
type resident struct {
	circuit *gpu.Circuit
	key     *gpu.Key
	prover  *gpu.Prover
}

func (r *resident) close() {
	if r.prover != nil {
		r.prover.Close()
	}
	if r.key != nil {
		r.key.Close()
	}
	if r.circuit != nil {
		r.circuit.Close()
	}
}

// loader brings a circuit and its key to a device.
type loader func(ctx context.Context, d *gpu.Device, circuit string) (*resident, error)

// card is a device and what it holds.
type card struct {
	device *gpu.Device
	loads  loader

	loading chan struct{} // holds one token: keys are loaded one after the other

	mu      sync.Mutex
	held    map[string]*holding
	running int
	tick    int64 // rises with each use
}

type holding struct {
	*resident
	users int
	used  int64
}

func newCard(d *gpu.Device, load loader) *card {
	c := &card{device: d, loads: load, loading: make(chan struct{}, 1), held: make(map[string]*holding)}
	c.loading <- struct{}{}
	return c
}

// load says how much the device has to do before it could begin a proof of the circuit: less is better.
func (c *card) load(circuit string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 2 * c.running
	if _, ok := c.held[circuit]; !ok {
		n++
	}
	return n
}

// enter counts work until the function it returns is called.
func (c *card) enter() func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.running--
	}
}

// get gives a circuit's prover, loading it if it is not held, which loaded reports. It blocks until it is there or ctx ends. Release it
// after use.
func (c *card) get(ctx context.Context, circuit string) (r *resident, release func(), loaded bool, err error) {
	if r, release := c.claim(circuit); r != nil {
		return r, release, false, nil
	}
	select {
	case <-c.loading:
		defer func() { c.loading <- struct{}{} }()
	case <-ctx.Done():
		return nil, nil, false, context.Cause(ctx)
	}
	if r, release := c.claim(circuit); r != nil { // another goroutine loaded it
		return r, release, false, nil
	}
	for {
		r, err := c.loads(ctx, c.device, circuit)
		if err == nil {
			c.mu.Lock()
			c.held[circuit] = &holding{resident: r}
			c.mu.Unlock()
			r, release := c.claim(circuit)
			return r, release, true, nil
		}
		// Make room, the longest unused first, as long as there is something to drop.
		if !errors.Is(err, gpu.ErrMemory) || !c.evict() {
			return nil, nil, false, err
		}
	}
}

func (c *card) claim(circuit string) (*resident, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok := c.held[circuit]
	if !ok {
		return nil, nil
	}
	c.tick++
	h.users++
	h.used = c.tick
	return h.resident, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		h.users--
	}
}

// evict drops the circuit used longest ago that is not in use, if there is one.
func (c *card) evict() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	oldest := ""
	for circuit, h := range c.held {
		if h.users == 0 && (oldest == "" || h.used < c.held[oldest].used) {
			oldest = circuit
		}
	}
	if oldest == "" {
		return false
	}
	c.held[oldest].close()
	delete(c.held, oldest)
	return true
}

func (c *card) resident() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]string, 0, len(c.held))
	for circuit := range c.held {
		out = append(out, circuit)
	}
	slices.Sort(out)
	return out
}

// close frees everything; nothing may be in use.
func (c *card) close() error {
	for c.evict() {
	}
	return c.device.Close()
}
