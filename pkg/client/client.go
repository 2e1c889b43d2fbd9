package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/proofmill/proofmill/pkg/bus/objects"
	"github.com/proofmill/proofmill/pkg/wire"
)

// Times of single exchanges with the servers.
const (
	requestTimeout = 10 * time.Second
	// submitTimeout is how long a request is tried to be stored, over lost connections.
	submitTimeout = 30 * time.Second
	// attachTimeout is how long a gateway may take to say whether a job is known, before its inputs are stored again.
	attachTimeout = 2 * time.Second
	// pollInterval is how often Await looks for a stored result by itself, should the message have been missed.
	pollInterval = 5 * time.Second
	// cancelTimeout bounds the cancellation that Prove sends when its context ends.
	cancelTimeout = 2 * time.Second
)

// Config says where the fleet is and who asks.
type Config struct {
	URL     string        // of one or several NATS servers, comma-separated
	Name    string        // of the connection, for the operators
	Prefix  string        // of the subjects; empty: wire.DefaultPrefix
	Account string        // tenant; empty: wire.DefaultAccount
	Domain  string        // JetStream domain of the fleet; empty for the servers' own
	Options []nats.Option // credentials, TLS and the like
}

// Client submits requests and awaits results. It may be used by many goroutines at once.
type Client struct {
	nc      *nats.Conn
	owned   bool // Close closes nc
	closed  chan struct{}
	api     string
	names   wire.Names
	account string
	inputs  *objects.Store

	mu   sync.Mutex // guards runs; nothing blocks while it is held
	runs map[wire.JobID]uint32
}

// Dial connects, waiting for the first connection until ctx ends; after that the connection comes back by itself for ever.
func Dial(ctx context.Context, cfg Config) (*Client, error) {
	closed, connected := make(chan struct{}), make(chan struct{}, 1)
	var failed atomic.Pointer[error] // of the last try
	options := append([]nats.Option{
		nats.Name(cfg.Name),
		nats.MaxReconnects(-1),
		nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectJitter(250*time.Millisecond, time.Second),
		nats.ConnectHandler(func(*nats.Conn) {
			select {
			case connected <- struct{}{}:
			default:
			}
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) {
			if !errors.Is(err, nats.ErrNoServers) { // which says no more than that all failed
				failed.Store(&err)
			}
		}),
		nats.ClosedHandler(func(*nats.Conn) { close(closed) }),
	}, cfg.Options...)
	nc, err := nats.Connect(cfg.URL, options...)
	if err != nil {
		return nil, wire.Errorf(wire.CodeStoreUnavailable, "nats server %s: %w", wire.RedactServers(cfg.URL), err)
	}
	if !nc.IsConnected() {
		select {
		case <-connected:
		case <-ctx.Done():
			why := ctx.Err()
			if last := nc.LastError(); last != nil && !errors.Is(last, nats.ErrNoServers) {
				why = last
			} else if last := failed.Load(); last != nil {
				why = *last
			}
			err := wire.Errorf(wire.CodeStoreUnavailable, "nats server %s: not reached: %w", wire.RedactServers(cfg.URL), why)
			nc.Close()
			<-closed
			return nil, err
		}
	}
	c, err := New(nc, cfg)
	if err != nil {
		nc.Close()
		<-closed
		return nil, err
	}
	c.owned, c.closed = true, closed
	return c, nil
}

// New uses a connection of the caller, who closes it after Close. URL, Name and Options of the configuration are not used. The
// connection should reconnect for ever (nats.MaxReconnects(-1)).
func New(nc *nats.Conn, cfg Config) (*Client, error) {
	if cfg.Prefix == "" {
		cfg.Prefix = wire.DefaultPrefix
	}
	if cfg.Account == "" {
		cfg.Account = wire.DefaultAccount
	}
	names, err := wire.NewNames(cfg.Prefix)
	if err != nil {
		return nil, err
	}
	var js jetstream.JetStream
	api := "$JS.API."
	if cfg.Domain != "" {
		api = "$JS." + cfg.Domain + ".API."
		js, err = jetstream.NewWithDomain(nc, cfg.Domain)
	} else {
		js, err = jetstream.New(nc)
	}
	if err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	return &Client{
		nc: nc, api: api, names: names, account: cfg.Account, runs: make(map[wire.JobID]uint32),
		inputs: objects.New(nc, js, names.BucketInputs(), objects.Options{Missing: wire.CodeInputMissing, Corrupt: wire.CodeInputCorrupt}),
	}, nil
}

// Close closes the connection that Dial made. Jobs under way go on; Await returns an error.
func (c *Client) Close() {
	if c.owned {
		c.nc.Close()
		<-c.closed
	}
}

func (c *Client) key(id wire.JobID) wire.JobKey { return wire.JobKey{Account: c.account, ID: id} }

// Cancel asks the gateways to end a job as cancelled and reports whether it was under way. All who await the job get the
// cancelled result. An unknown job is an error with code no_such_job, an absent gateway one with code no_gateway.
func (c *Client) Cancel(ctx context.Context, id wire.JobID, reason string) (wasRunning bool, err error) {
	reply, err := c.ask(ctx, "cancel", id, &wire.Cancel{JobKey: c.key(id), Reason: reason})
	if err != nil {
		return false, err
	}
	return reply.Live, nil
}

// Status asks the gateways for a job's state. Unknown jobs and absent gateways are errors as for Cancel.
func (c *Client) Status(ctx context.Context, id wire.JobID) (*wire.Reply, error) {
	return c.ask(ctx, "status", id, &wire.StatusQuery{JobKey: c.key(id)})
}

func (c *Client) ask(ctx context.Context, verb string, id wire.JobID, m wire.Message) (*wire.Reply, error) {
	data, err := wire.Encode(m)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	msg := nats.NewMsg(c.names.Ask(verb, c.key(id)))
	msg.Data = data
	wire.Inject(ctx, msg.Header)
	answer, err := c.nc.RequestMsgWithContext(ctx, msg)
	if err != nil {
		return nil, wire.Errorf(wire.CodeNoGateway, "%s of job %s: %w", verb, id.Short(), err)
	}
	reply := new(wire.Reply)
	if err := wire.Decode(answer.Data, reply); err != nil {
		return nil, fmt.Errorf("%s of job %s: reply: %w", verb, id.Short(), err)
	}
	if reply.Error != nil {
		return nil, reply.Error
	}
	if !reply.Found {
		return nil, wire.Errorf(wire.CodeNoSuchJob, "%s of job %s: the fleet does not know it", verb, id.Short())
	}
	return reply, nil
}

// Watch calls handle for the job's progress from now on until the returned function is called. Handle runs in the subscription's
// goroutine and must not block for long. Progress is for people: some may be lost.
func (c *Client) Watch(id wire.JobID, handle func(p *wire.Progress)) (stop func(), err error) {
	sub, err := c.nc.Subscribe(c.names.Progress(c.key(id)), func(msg *nats.Msg) {
		p := new(wire.Progress)
		if err := wire.Decode(msg.Data, p); err == nil { // what a newer fleet says is left out
			handle(p)
		}
	})
	if err != nil {
		return nil, wire.Errorf(wire.CodeStoreUnavailable, "progress of job %s: %w", id.Short(), err)
	}
	return func() { _ = sub.Unsubscribe() }, nil // fails only on a closed connection
}
