package gpuprove

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/services/internal/host"
)

// HostOptions are what every service needs.
type HostOptions = host.Options

// Options are the service's choices. Host and Backend are required.
type Options struct {
	Host HostOptions
	// Backend proves. It stays the caller's, who closes it after Run.
	Backend Backend
	// Slots is how many proofs are under way at once; 0 means one.
	Slots int
}

// Service is a prover.
type Service struct {
	opts Options
	host *host.Host
	keys map[string]wire.Digest // of the verifying keys, by circuit

	mu       sync.Mutex
	circuits []string // in order of preference
}

// New makes a service; it starts nothing.
func New(o Options) (*Service, error) {
	o.Slots = max(o.Slots, 1)
	if o.Backend == nil {
		return nil, errors.New("gpuprove: no backend is given")
	}
	h, err := host.New("gpuprove", o.Slots, o.Host)
	if err != nil {
		return nil, err
	}
	s := &Service{opts: o, host: h, keys: make(map[string]wire.Digest)}
	for _, key := range o.Backend.Keys() {
		s.keys[key.Circuit] = key.VK
		s.circuits = append(s.circuits, key.Circuit)
	}
	if len(s.circuits) == 0 {
		return nil, wire.Errorf(wire.CodeParametersMissing, "gpuprove: the backend serves no circuit: no parameter file was found")
	}
	h.Describe(func(info *wire.WorkerInfo) {
		info.Circuits, info.Resident, info.Devices = o.Backend.Keys(), o.Backend.Resident(), o.Backend.Devices()
	})
	return s, nil
}

// Address is where health and metrics are served once Run has begun.
func (s *Service) Address() string { return s.host.Address() }

// Ready is closed when the service takes work for the first time.
func (s *Service) Ready() <-chan struct{} { return s.host.ReadyOnce() }

// Run serves until ctx ends, then finishes what it has in hand within the drain timeout and returns nil. It returns an error where
// the service cannot go on, as after a fault of its device: what it had in hand is then another worker's.
func (s *Service) Run(ctx context.Context) error {
	return s.host.Run(ctx, func(pull, work context.Context) error {
		var q *bus.Queue
		err := host.Retry(pull, s.host.Log, "gpuprove", func() (err error) {
			q, err = s.host.Conn.NewQueue(work, bus.QueueConfig{Work: wire.WorkProve, Circuits: s.circuits})
			return err
		})
		if err != nil || q == nil {
			return err
		}
		defer q.Close()
		s.host.SetReady()
		s.host.Log.Info("serving", "circuits", s.circuits)
		return s.host.Pull(pull, q, s.opts.Slots, func(ctx context.Context, d *bus.Delivery) error {
			err := s.handle(ctx, d)
			s.prefer(pull, q)
			return err
		})
	})
}

// prefer puts circuits whose key is resident first, inside each class and lane.
func (s *Service) prefer(ctx context.Context, q *bus.Queue) {
	resident := s.opts.Backend.Resident()
	s.mu.Lock()
	defer s.mu.Unlock()
	order := slices.Clone(s.circuits)
	slices.SortStableFunc(order, func(a, b string) int {
		return rank(resident, a) - rank(resident, b)
	})
	if slices.Equal(order, s.circuits) || ctx.Err() != nil {
		return
	}
	if err := q.SetCircuits(ctx, order); err != nil {
		s.host.Log.Warn("order of circuits not changed", "err", err)
		return
	}
	s.circuits = order
	s.host.Changed()
}

func rank(resident []string, circuit string) int {
	if slices.Contains(resident, circuit) {
		return 0
	}
	return 1
}
