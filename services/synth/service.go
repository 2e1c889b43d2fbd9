package synth

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/services/internal/host"
)

// DefaultCacheBytes bounds the decoded inputs that are kept for further partitions of the same request.
const DefaultCacheBytes = 512 << 20

// HostOptions are what every service needs.
type HostOptions = host.Options

// Options are the service's choices. The zero values of all but Host will do.
type Options struct {
	Host HostOptions
	// Slots is how many partitions are made at once; 0 means one, which uses all processors.
	Slots int
	// Workers is how many goroutines one partition uses; 0 means all processors.
	Workers int
	// TestProofs allows circuits that Filecoin never registered.
	TestProofs bool
	// Circuits that are served; empty means those that the provers of the fleet serve, as they come and go.
	Circuits []string
	// CacheBytes bounds decoded inputs in memory; 0 means DefaultCacheBytes.
	CacheBytes int64
	// Systems are the circuits, shared with other services of the process; nil makes its own.
	Systems *engine.Systems
}

// Service is a synth.
type Service struct {
	opts   Options
	host   *host.Host
	opened *cache
	blobs  blobs
}

// New makes a service; it starts nothing.
func New(o Options) (*Service, error) {
	o.Slots = max(o.Slots, 1)
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = DefaultCacheBytes
	}
	if o.Systems == nil {
		o.Systems = new(engine.Systems)
	}
	for _, id := range o.Circuits {
		if _, err := engine.ParseCircuit(id); err != nil {
			return nil, wire.Errorf(wire.CodeUnsupportedCircuit, "synth: %w", err)
		}
	}
	h, err := host.New("synth", o.Slots, o.Host)
	if err != nil {
		return nil, err
	}
	return &Service{opts: o, host: h, opened: newCache(o.CacheBytes), blobs: h.Conn.Blobs()}, nil
}

// Address is where health and metrics are served once Run has begun.
func (s *Service) Address() string { return s.host.Address() }

// Ready is closed when the service takes work for the first time.
func (s *Service) Ready() <-chan struct{} { return s.host.ReadyOnce() }

// Run serves until ctx ends, then finishes what it has in hand within the drain timeout and returns nil. It returns an error where
// the service cannot go on.
func (s *Service) Run(ctx context.Context) error {
	return s.host.Run(ctx, func(pull, work context.Context) error {
		var q *bus.Queue
		err := host.Retry(pull, s.host.Log, "synth", func() (err error) {
			q, err = s.host.Conn.NewQueue(work, bus.QueueConfig{Work: wire.WorkSynth, Circuits: s.opts.Circuits})
			return err
		})
		if err != nil || q == nil {
			return err
		}
		defer q.Close()
		g, inner := errgroup.WithContext(pull)
		if len(s.opts.Circuits) > 0 {
			s.host.SetReady()
		} else {
			g.Go(func() error { return s.follow(inner, q) })
		}
		g.Go(func() error { return s.host.Pull(inner, q, s.opts.Slots, s.handle) })
		return g.Wait()
	})
}
