package host

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/services/internal/stage"
)

// Causes of the end of the context of the work.
var (
	// ErrDrainTimeout: the work in hand took longer than it may after the end was asked for.
	ErrDrainTimeout = errors.New("the service is stopping and its drain timeout is over")
	// ErrConnectionClosed: the connection was closed for good.
	ErrConnectionClosed = errors.New("the connection to NATS is closed")
	errEnded            = errors.New("the service has ended")
)

// Host is the process of one service. Its methods may be called by any number of goroutines.
type Host struct {
	Options

	Timer   *stage.Timer
	Health  *Health
	Busy    atomic.Int64  // slots at work
	Done    atomic.Uint64 // partitions since the start
	Failed  atomic.Uint64
	service string
	started time.Time
	slots   int
	changed chan struct{}
	details func(*wire.WorkerInfo)
	ready   chan struct{}
	once    sync.Once
	address atomic.Value // string
}

// New makes the host of a service: gateway, synth or gpuprove, with a number of slots for work at once. It starts nothing.
func New(service string, slots int, o Options) (*Host, error) {
	o.fill()
	if o.Conn == nil {
		return nil, errors.New(service + ": no connection is given")
	}
	timer, err := stage.NewTimer(o.Tracers, o.Meters, service, o.Conn.Name())
	if err != nil {
		return nil, err
	}
	return &Host{
		Options: o, Timer: timer, Health: NewHealth(o.Conn.Connected), service: service, started: time.Now(), slots: slots,
		changed: make(chan struct{}, 1), ready: make(chan struct{}),
	}, nil
}

// Describe lets the service add to its entry in the fleet. It is called before Run.
func (h *Host) Describe(details func(*wire.WorkerInfo)) { h.details = details }

// Changed makes the fleet's entry be written soon.
func (h *Host) Changed() {
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

// SetReady says that the service has all that it needs.
func (h *Host) SetReady() {
	h.Health.Set(Ready, "")
	h.Changed()
	h.once.Do(func() { close(h.ready) })
}

// ReadyOnce is closed when the service was ready for the first time.
func (h *Host) ReadyOnce() <-chan struct{} { return h.ready }

// Run runs body between the start and the end of the process's public face. Body gets two contexts: pull ends when the service is to
// take no new work, work when it is to drop what it has in hand. Body returns after all that it started has ended.
func (h *Host) Run(ctx context.Context, body func(pull, work context.Context) error) error {
	work, stopWork := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stopWork(errEnded)
	pull, stopPull := context.WithCancel(ctx)
	defer stopPull()
	web, err := h.listen()
	if err != nil {
		return err
	}
	var owned errgroup.Group
	// The process is seen until its work has ended, not only until it is asked to end.
	owned.Go(func() error { return h.heartbeat(work) })
	owned.Go(func() error {
		h.watch(pull, work, stopPull, stopWork)
		return nil
	})
	err = body(pull, work)
	if cause := context.Cause(work); err == nil && errors.Is(cause, ErrConnectionClosed) {
		err = cause
	}
	h.Health.Set(Draining, "ended")
	stopWork(errEnded)
	stopPull()
	return errors.Join(err, owned.Wait(), web.close())
}

// watch turns the end of pull, and of the connection, into the end of the work.
func (h *Host) watch(pull, work context.Context, stopPull context.CancelFunc, stopWork context.CancelCauseFunc) {
	select {
	case <-pull.Done():
	case <-h.Conn.Closed():
		stopWork(ErrConnectionClosed)
		stopPull()
		return
	}
	if work.Err() == nil {
		h.Log.Info("draining", "service", h.service, "in_hand", h.Busy.Load(), "timeout", h.DrainTimeout)
	}
	h.Health.Set(Draining, "asked to stop")
	h.Changed()
	timer := time.NewTimer(h.DrainTimeout)
	defer timer.Stop()
	select {
	case <-timer.C:
		stopWork(ErrDrainTimeout)
	case <-h.Conn.Closed():
		stopWork(ErrConnectionClosed)
	case <-work.Done():
	}
}

// heartbeat keeps the fleet's entry. A fleet bucket that is not there yet is waited for.
func (h *Host) heartbeat(work context.Context) error {
	return Retry(work, h.Log, "fleet", func() error { return h.Conn.RunHeartbeat(work, h.entry, h.changed) })
}

func (h *Host) entry() *wire.WorkerInfo {
	state, reason := h.Health.State()
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	info := &wire.WorkerInfo{
		Name: h.Conn.Name(), Service: h.service, Host: host, PID: uint32(os.Getpid()), Software: h.Software, //nolint:gosec // small
		Started: wire.MillisOf(h.started), Slots: uint32(h.slots), Busy: uint32(max(h.Busy.Load(), 0)), //nolint:gosec // small
		Ready: state == Ready, Draining: state == Draining, Reason: reason, Done: h.Done.Load(), Failed: h.Failed.Load(),
	}
	if h.details != nil {
		h.details(info)
	}
	return info
}
