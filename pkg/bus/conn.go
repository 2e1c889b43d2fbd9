package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/proofmill/proofmill/pkg/bus/objects"
	"github.com/proofmill/proofmill/pkg/wire"
)

// Config is what a service needs to connect.
type Config struct {
	// URL of one or several servers, comma-separated. Empty with an in-process server in Options.
	URL string
	// Name of the process: a token, unique in the fleet, shown by the server and in results.
	Name string
	// Prefix of subjects, streams and buckets; empty means wire.DefaultPrefix.
	Prefix string
	// Domain is the JetStream domain of the streams; empty for the server's own.
	Domain string
	// Replicas of streams and buckets; 0 means 1. Three need a cluster of at least three servers.
	Replicas int
	// BlobLimitBytes bounds the bucket of witness blobs, and InputLimitBytes that of inputs; 0: no limit.
	BlobLimitBytes, InputLimitBytes int64
	// Options are added to the connection's: credentials, TLS, an in-process server.
	Options []nats.Option
	// Log gets connection changes and what workers report; nil means slog.Default().
	Log *slog.Logger
}

// Conn is a service's connection. All methods may be used by many goroutines at once.
type Conn struct {
	cfg    Config
	names  wire.Names
	nc     *nats.Conn
	js     jetstream.JetStream
	log    *slog.Logger
	closed chan struct{}
}

// Connect dials and waits for the first connection until ctx ends. After that the connection comes back by itself for ever;
// Closed tells when it was closed for good.
func Connect(ctx context.Context, cfg Config) (*Conn, error) {
	if cfg.Prefix == "" {
		cfg.Prefix = wire.DefaultPrefix
	}
	names, err := wire.NewNames(cfg.Prefix)
	if err != nil {
		return nil, err
	}
	if cfg.Replicas == 0 {
		cfg.Replicas = 1
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	c := &Conn{cfg: cfg, names: names, log: cfg.Log, closed: make(chan struct{})}
	connected := make(chan struct{}, 1)
	var failed atomic.Pointer[error] // of the last try
	options := append([]nats.Option{
		nats.Name(cfg.Name),
		nats.MaxReconnects(-1),
		nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectJitter(250*time.Millisecond, time.Second),
		nats.PingInterval(20 * time.Second),
		nats.ConnectHandler(func(*nats.Conn) { signal(connected) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				c.log.Warn("nats: disconnected", "err", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) { c.log.Info("nats: connected again", "server", nc.ConnectedUrlRedacted()) }),
		nats.LameDuckModeHandler(func(*nats.Conn) { c.log.Info("nats: the server is about to stop") }),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			subject := ""
			if sub != nil {
				subject = sub.Subject
			}
			c.log.Warn("nats: error", "subject", subject, "err", err)
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) {
			if !errors.Is(err, nats.ErrNoServers) { // which says no more than that all failed
				failed.Store(&err)
			}
		}),
		nats.ClosedHandler(func(*nats.Conn) { close(c.closed) }),
	}, cfg.Options...)
	if c.nc, err = nats.Connect(cfg.URL, options...); err != nil {
		return nil, wire.Errorf(wire.CodeStoreUnavailable, "nats server %s: %w", wire.RedactServers(cfg.URL), err)
	}
	if !c.nc.IsConnected() {
		select {
		case <-connected:
		case <-ctx.Done():
			why := ctx.Err()
			if last := c.nc.LastError(); last != nil && !errors.Is(last, nats.ErrNoServers) {
				why = last
			} else if last := failed.Load(); last != nil {
				why = *last
			}
			c.Close()
			return nil, wire.Errorf(wire.CodeStoreUnavailable, "nats server %s: not reached: %w", wire.RedactServers(cfg.URL), why)
		}
	}
	if cfg.Domain != "" {
		c.js, err = jetstream.NewWithDomain(c.nc, cfg.Domain)
	} else {
		c.js, err = jetstream.New(c.nc)
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	return c, nil
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// Close closes the connection and waits until its handlers have ended. Queues must have been closed before.
func (c *Conn) Close() {
	c.nc.Close()
	<-c.closed
}

// Closed is closed when the connection was closed for good; a service then exits.
func (c *Conn) Closed() <-chan struct{} { return c.closed }

// Connected reports whether the connection is up now.
func (c *Conn) Connected() bool { return c.nc.IsConnected() }

// Flush waits until the server has taken all that was published.
func (c *Conn) Flush(ctx context.Context) error { return c.nc.FlushWithContext(ctx) }

// Name is the process's name in the fleet.
func (c *Conn) Name() string { return c.cfg.Name }

// Names makes subjects and names of this deployment.
func (c *Conn) Names() wire.Names { return c.names }

// NATS is the underlying connection, for the services API.
func (c *Conn) NATS() *nats.Conn { return c.nc }

// JetStream is the underlying context.
func (c *Conn) JetStream() jetstream.JetStream { return c.js }

// Inputs is the object store of requests' inputs.
func (c *Conn) Inputs() *objects.Store {
	return objects.New(c.nc, c.js, c.names.BucketInputs(), objects.Options{Missing: wire.CodeInputMissing, Corrupt: wire.CodeInputCorrupt})
}

// Blobs is the object store of witness blobs.
func (c *Conn) Blobs() *objects.Store {
	return objects.New(c.nc, c.js, c.names.BucketBlobs(), objects.Options{Missing: wire.CodeBlobMissing, Corrupt: wire.CodeBlobCorrupt})
}

// api is the subject prefix of the JetStream API.
func (c *Conn) api() string {
	if c.cfg.Domain != "" {
		return "$JS." + c.cfg.Domain + ".API."
	}
	return "$JS.API."
}

// apiCode is the server's error code in err's chain, 0 if there is none.
func apiCode(err error) jetstream.ErrorCode {
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		return api.ErrorCode
	}
	var jserr jetstream.JetStreamError
	if errors.As(err, &jserr) && jserr.APIError() != nil {
		return jserr.APIError().ErrorCode
	}
	return 0
}

// Error codes of the server.
const (
	codeWrongLastSequence = 10071
	codeStreamFull        = 10077
	codeNoResources       = 10023
	codeNoStorage         = 10047
)

// classify gives an error of the message system its code, unless it has one or says that the caller gave up.
func classify(err error) error {
	var known *wire.Error
	if err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) {
		return err
	}
	switch apiCode(err) {
	case codeStreamFull, codeNoResources, codeNoStorage:
		return wire.Errorf(wire.CodeStorageFull, "%w", err)
	}
	return wire.Errorf(wire.CodeStoreUnavailable, "%w", err)
}
