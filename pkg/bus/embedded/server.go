// Package embedded runs a nats-server inside the process, for a whole pipeline on one machine and for tests. It is apart from
// package bus so that programs which only connect do not link a server.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Config says where the server keeps its state and whether others may reach it.
type Config struct {
	// StoreDir keeps streams over restarts. It is made if absent; only one server may use it at a time.
	StoreDir string
	// Port to listen on at Host; 0 listens nowhere, so that only this process connects; -1 chooses a free one.
	Port int
	// Host to listen on; empty means the loopback address.
	Host string
	// SyncAlways makes each stored message durable before it is acknowledged, at a third of the throughput. Without it an
	// acknowledged message may be lost when the machine, not the process, dies within two minutes.
	SyncAlways bool
	// MaxStoreBytes bounds the disk that streams may use; 0: what nats-server chooses.
	MaxStoreBytes int64
	// Log gets the server's warnings and errors; nil drops them.
	Log *slog.Logger
}

// Server is a running nats-server. Shutdown ends it and all its goroutines.
type Server struct {
	s    *server.Server
	lock *os.File // of the store directory
}

// Start starts a server and returns when it accepts connections or ctx ends.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.StoreDir == "" {
		return nil, errors.New("embedded nats-server: no store directory is given")
	}
	if err := os.MkdirAll(cfg.StoreDir, 0o700); err != nil {
		return nil, fmt.Errorf("embedded nats-server: %w", err)
	}
	lock, err := lockDir(cfg.StoreDir)
	if err != nil {
		return nil, fmt.Errorf("embedded nats-server: %w", err)
	}
	s, err := start(ctx, cfg)
	if err != nil {
		_ = lock.Close() // nothing was written
		return nil, err
	}
	return &Server{s: s, lock: lock}, nil
}

func start(ctx context.Context, cfg Config) (*server.Server, error) {
	host := cfg.Host
	if host == "" {
		host = "127.0.0.1"
	}
	s, err := server.NewServer(&server.Options{
		ServerName:        "proofmill",
		Host:              host,
		Port:              cfg.Port,
		DontListen:        cfg.Port == 0,
		JetStream:         true,
		StoreDir:          cfg.StoreDir,
		JetStreamMaxStore: cfg.MaxStoreBytes,
		SyncAlways:        cfg.SyncAlways,
		NoSigs:            true,
	})
	if err != nil {
		return nil, fmt.Errorf("embedded nats-server: %w", err)
	}
	log := &logger{log: cfg.Log}
	if log.log == nil {
		log.log = slog.New(slog.DiscardHandler)
	}
	s.SetLoggerV2(log, false, false, false)
	s.Start()
	for !s.ReadyForConnections(100 * time.Millisecond) {
		fatal := log.fatal.Load()
		if fatal == nil && ctx.Err() == nil {
			continue
		}
		s.Shutdown()
		s.WaitForShutdown()
		if fatal != nil {
			return nil, fmt.Errorf("embedded %s: another process may hold the port", *fatal)
		}
		return nil, fmt.Errorf("embedded nats-server: not ready in %s: %w", cfg.StoreDir, ctx.Err())
	}
	if !s.JetStreamEnabled() {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("embedded nats-server: JetStream did not start in %s: check that it is writable", cfg.StoreDir)
	}
	return s, nil
}

// Option connects a client inside the process, without a socket.
func (s *Server) Option() nats.Option { return nats.InProcessServer(s.s) }

// URL is the address for other processes, empty if the server does not listen.
func (s *Server) URL() string {
	if s.s.Addr() == nil {
		return ""
	}
	return s.s.ClientURL()
}

// Shutdown stops the server and waits until it has stopped. Clients are disconnected.
func (s *Server) Shutdown() {
	s.s.Shutdown()
	s.s.WaitForShutdown()
	_ = s.lock.Close() // nothing was written
}

// logger passes the server's messages to slog; notices are debug messages here, as the embedding program speaks for itself. It
// remembers the first fatal one, after which the server neither becomes ready nor stops.
type logger struct {
	log   *slog.Logger
	fatal atomic.Pointer[string]
}

func (l *logger) Noticef(f string, v ...any) { l.log.Debug(text(f, v)) }
func (l *logger) Warnf(f string, v ...any)   { l.log.Warn(text(f, v)) }
func (l *logger) Errorf(f string, v ...any)  { l.log.Error(text(f, v)) }
func (l *logger) Debugf(string, ...any)      {}
func (l *logger) Tracef(string, ...any)      {}
func (l *logger) Fatalf(f string, v ...any) {
	t := text(f, v)
	l.fatal.CompareAndSwap(nil, &t)
	l.log.Error(t)
}

func text(f string, v []any) string { return "nats-server: " + strings.TrimSpace(fmt.Sprintf(f, v...)) }
