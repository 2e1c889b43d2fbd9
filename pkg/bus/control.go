package bus

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/proofmill/proofmill/pkg/wire"
)

// controlTimeout bounds the handling of one control request.
const controlTimeout = 10 * time.Second

// Controls are what a gateway does for clients' control requests. Both may be called by several goroutines at once. The reply's key
// and version are filled in; an error becomes the reply's.
type Controls struct {
	// Cancel ends the job as cancelled if it is under way.
	Cancel func(ctx context.Context, c *wire.Cancel) (*wire.Reply, error)
	// Status reports the job's state.
	Status func(ctx context.Context, key wire.JobKey) (*wire.Reply, error)
}

// ServeControls answers control requests, shared with all other gateways, until the returned function is called, which waits for the
// requests in hand. The contexts of the handlers carry the caller's trace and end with ctx.
func (c *Conn) ServeControls(ctx context.Context, controls Controls) (stop func(), err error) {
	var (
		inHand sync.WaitGroup
		mu     sync.Mutex // guards closed, and Add against Wait
		closed bool
	)
	ctx, cancel := context.WithCancel(ctx)
	sub, err := c.nc.QueueSubscribe(c.names.All("ask"), "gateway", func(msg *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		if closed {
			return
		}
		inHand.Go(func() {
			c.answer(ctx, controls, msg)
		})
	})
	if err != nil {
		cancel()
		return nil, classify(fmt.Errorf("subscribe %s: %w", c.names.All("ask"), err))
	}
	return func() {
		// Draining would let the last requests in; what is lost here the client asks again.
		_ = sub.Unsubscribe() // fails only on a closed connection
		mu.Lock()
		closed = true
		mu.Unlock()
		inHand.Wait()
		cancel()
	}, nil
}

func (c *Conn) answer(ctx context.Context, controls Controls, msg *nats.Msg) {
	ctx, cancel := context.WithTimeout(wire.Extract(ctx, msg.Header), controlTimeout)
	defer cancel()
	key, err := c.names.ParseKey(msg.Subject)
	if err != nil {
		c.log.Warn("control request dropped", "err", err)
		return
	}
	reply, err := c.control(ctx, controls, key, msg)
	if reply == nil {
		reply = &wire.Reply{}
	}
	if err != nil {
		reply.Error = wire.AsError(err)
	}
	reply.JobKey = key
	data, err := wire.Encode(reply)
	if err != nil {
		c.log.Error("control reply not written", "job", key.ID.Short(), "err", err)
		return
	}
	if err := msg.Respond(data); err != nil {
		c.log.Warn("control reply not sent", "job", key.ID.Short(), "err", err)
	}
}

func (c *Conn) control(ctx context.Context, controls Controls, key wire.JobKey, msg *nats.Msg) (*wire.Reply, error) {
	verb, _, _ := strings.Cut(strings.TrimPrefix(msg.Subject, c.names.Prefix()+".ask."), ".")
	switch verb {
	case "cancel":
		m := new(wire.Cancel)
		if err := wire.Decode(msg.Data, m); err != nil {
			return nil, err
		}
		// The subject is what the server's permissions checked.
		if m.JobKey != key {
			return nil, wire.Errorf(wire.CodeNotPermitted, "cancel of job %s: it was sent for job %s of account %s", m.ID.Short(), key.ID.Short(), key.Account)
		}
		return controls.Cancel(ctx, m)
	case "status":
		m := new(wire.StatusQuery)
		if err := wire.Decode(msg.Data, m); err != nil {
			return nil, err
		}
		if m.JobKey != key {
			return nil, wire.Errorf(wire.CodeNotPermitted, "status of job %s: it was sent for job %s of account %s", m.ID.Short(), key.ID.Short(), key.Account)
		}
		return controls.Status(ctx, key)
	default:
		return nil, wire.Errorf(wire.CodeBadRequest, "control request %q: want cancel or status", verb)
	}
}

// StatusOf is the reply that tells a record's state.
func StatusOf(r *wire.JobRecord) *wire.Reply {
	return &wire.Reply{
		JobKey: r.JobKey, Found: true, Run: r.Run, State: r.State, Live: !r.State.Ended(),
		Done: uint32(r.Verified()), Total: uint32(len(r.Partitions)), //nolint:gosec // at most MaxPartitions
	}
}
