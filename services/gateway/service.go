package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"
	"golang.org/x/sync/errgroup"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/services/internal/host"
	"github.com/proofmill/proofmill/services/internal/params"
	"github.com/proofmill/proofmill/services/internal/stage"
)

// flushTimeout bounds what a gateway waits for the server to know its subscriptions.
const flushTimeout = 10 * time.Second

// Defaults of Options.
const (
	DefaultSlots        = 2
	DefaultVerifySlots  = 8
	DefaultMaxAttempts  = 5
	DefaultPublicsBytes = 256 << 20
)

// HostOptions are what every service needs.
type HostOptions = host.Options

// ParamsDir is a directory of parameter files, of which a gateway reads the verifying keys.
type ParamsDir = params.Dir

// Options are the service's choices. The zero values of all but Host will do.
type Options struct {
	Host HostOptions
	// Params has the verifying keys. Requests for circuits without one are refused.
	Params ParamsDir
	// TestProofs allows circuits that Filecoin never registered.
	TestProofs bool
	// Slots is how many requests are read at once, each with all its inputs in memory; 0 means DefaultSlots.
	Slots int
	// VerifySlots is how many partition proofs are in hand at once; those of one circuit are verified together. 0 means
	// DefaultVerifySlots.
	VerifySlots int
	// Workers is how many goroutines decode one request; 0 means all processors.
	Workers int
	// MaxAttempts is how often a partition is made before its job fails; 0 means DefaultMaxAttempts.
	MaxAttempts int
	// PublicsBytes bounds the public inputs of jobs under way that are kept in memory; 0 means DefaultPublicsBytes.
	PublicsBytes int64
}

// Service is a gateway.
type Service struct {
	opts      Options
	host      *host.Host
	conn      *bus.Conn
	ledger    *bus.Ledger // set when Run has begun
	keys      *keys
	publics   *publicsCache
	verifier  *verifier
	expiry    *expiry
	concluded *memory
	results   metric.Int64Counter
	rejected  metric.Int64Counter
}

// New makes a service; it starts nothing.
func New(o Options) (*Service, error) {
	defaults := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	defaults(&o.Slots, DefaultSlots)
	defaults(&o.VerifySlots, DefaultVerifySlots)
	defaults(&o.MaxAttempts, DefaultMaxAttempts)
	if o.PublicsBytes <= 0 {
		o.PublicsBytes = DefaultPublicsBytes
	}
	h, err := host.New("gateway", o.Slots+o.VerifySlots, o.Host)
	if err != nil {
		return nil, err
	}
	s := &Service{
		opts: o, host: h, conn: h.Conn, keys: newKeys(o.Params), publics: newPublicsCache(o.PublicsBytes), verifier: newVerifier(),
		expiry: newExpiry(), concluded: newMemory(),
	}
	meter := h.Meters.Meter(stage.Scope)
	if s.results, err = meter.Int64Counter("proofmill.results", metric.WithDescription("Results published")); err != nil {
		return nil, fmt.Errorf("metric: %w", err)
	}
	if s.rejected, err = meter.Int64Counter("proofmill.proofs.rejected", metric.WithDescription("Partition proofs that did not verify")); err != nil {
		return nil, fmt.Errorf("metric: %w", err)
	}
	h.Describe(func(info *wire.WorkerInfo) { info.Circuits = s.keys.list() })
	return s, nil
}

// Address is where health and metrics are served once Run has begun.
func (s *Service) Address() string { return s.host.Address() }

// Ready is closed when the service takes work for the first time.
func (s *Service) Ready() <-chan struct{} { return s.host.ReadyOnce() }

// Run creates streams and buckets where they are absent and serves until ctx ends, then finishes what it has in hand within the
// drain timeout and returns nil. It returns an error where the service cannot go on.
func (s *Service) Run(ctx context.Context) error {
	return s.host.Run(ctx, func(pull, work context.Context) error {
		connected, forget := s.connections() // from before the first setup on, so that no restart is missed
		defer forget()
		err := host.Retry(pull, s.host.Log, "gateway", func() (err error) {
			if err := s.conn.Setup(pull); err != nil {
				return err
			}
			s.ledger, err = s.conn.OpenLedger(pull)
			return err
		})
		if err != nil || s.ledger == nil {
			return err
		}
		requests, err := s.conn.NewQueue(work, bus.QueueConfig{Work: wire.WorkRequests})
		if err != nil {
			return err
		}
		defer requests.Close()
		done, err := s.conn.NewQueue(work, bus.QueueConfig{Work: wire.WorkDone})
		if err != nil {
			return err
		}
		defer done.Close()
		stop, err := s.conn.ServeControls(work, bus.Controls{Cancel: s.cancel, Status: s.status})
		if err != nil {
			return err
		}
		defer stop()
		flush, cancel := context.WithTimeout(pull, flushTimeout)
		err = s.conn.Flush(flush) // then the subscriptions are in force
		cancel()
		if err != nil && pull.Err() == nil {
			return wire.Errorf(wire.CodeStoreUnavailable, "gateway: %w", err)
		}
		s.host.SetReady()
		g, inner := errgroup.WithContext(pull)
		g.Go(func() error { return s.host.Pull(inner, requests, s.opts.Slots, s.handleRequest) })
		g.Go(func() error { return s.host.Pull(inner, done, s.opts.VerifySlots, s.handleDone) })
		g.Go(func() error { return s.conn.RunDeadLetters(inner) })
		g.Go(func() error { return s.keepStreams(inner, connected) })
		g.Go(func() error { return s.reconcile(inner) })
		err = g.Wait()
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	})
}
