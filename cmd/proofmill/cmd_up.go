package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/config"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/bus/embedded"
)

func init() { register(groupServices, newUpCommand) }

// embeddedWait is how long the embedded server may take to be ready: it reads its streams back.
const embeddedWait = 30 * time.Second

// upSettings are those of the embedded server.
type upSettings struct {
	Listen     string      `toml:"listen" doc:"Address at which the embedded NATS server takes other processes; empty: none"`
	Store      string      `toml:"store" doc:"Directory of the embedded server's streams; empty: proofmill/nats in the user's state directory"`
	StoreLimit config.Size `toml:"store-limit" doc:"Largest size of the streams; 0: what the server chooses from the free disk"`
	Sync       bool        `toml:"sync" doc:"Make each message durable before it counts as stored; slower"`
}

// minStore is what the streams need: the one of dead letters alone reserves a gibibyte.
const minStore = 2 << 30

// Validate checks the limit.
func (s *upSettings) Validate() error {
	if s.StoreLimit != 0 && s.StoreLimit < minStore {
		return fmt.Errorf("up.store-limit is %d bytes, the streams need 2GiB at least", int64(s.StoreLimit))
	}
	return nil
}

func newUpCommand(a *app) *cobra.Command {
	command := &cobra.Command{
		Use: "up", Short: "Run the whole pipeline on this machine, with its own NATS server",
		Long: "Runs gateway, synth and gpuprove in one process around an embedded NATS server. Requests come by message at the\n" +
			"server's address: `proofmill prove` from another shell. State survives restarts in the store directory.",
		RunE: func(command *cobra.Command, _ []string) error { return up(command.Context(), a) },
	}
	a.addParamsFlags(command)
	flags := command.Flags()
	a.config.Flag(flags, "listen", "up.listen")
	a.config.Flag(flags, "store", "up.store")
	a.config.Flag(flags, "drain", "service.drain")
	a.config.Flag(flags, "backend", "gpuprove.backend")
	return command
}

func up(ctx context.Context, a *app) error {
	server, err := a.startEmbedded(ctx, a.up)
	if err != nil {
		return err
	}
	defer server.Shutdown()
	ready := func() { a.logs.Info("ready", "nats", server.URL()) }
	return a.runServices(ctx, a.connectEmbedded(server), ready, serviceGateway, serviceSynth, serviceGPUProve)
}

// startEmbedded starts the embedded server.
func (a *app) startEmbedded(ctx context.Context, s upSettings) (*embedded.Server, error) {
	cfg := embedded.Config{StoreDir: s.Store, SyncAlways: s.Sync, MaxStoreBytes: int64(s.StoreLimit), Log: a.logs.Logger}
	if s.Listen != "" {
		host, port, err := net.SplitHostPort(s.Listen)
		if err == nil {
			cfg.Host = host
			cfg.Port, err = strconv.Atoi(port)
		}
		if err != nil {
			return nil, exit.Wrap(exit.BadConfig, fmt.Errorf("up.listen %q: %w", s.Listen, err), "such as 127.0.0.1:4222")
		}
		if cfg.Port == 0 {
			cfg.Port = -1 // the server's word for a free one
		}
	}
	if cfg.StoreDir == "" {
		dir, err := a.stateDir()
		if err != nil {
			return nil, err
		}
		cfg.StoreDir = filepath.Join(dir, "nats")
	}
	ctx, cancel := context.WithTimeout(ctx, embeddedWait)
	defer cancel()
	server, err := embedded.Start(ctx, cfg)
	return server, exit.Wrap(exit.Unavailable, err, "")
}

// connectEmbedded is the connector to a server in this process.
func (a *app) connectEmbedded(server *embedded.Server) connector {
	return func(ctx context.Context, name string) (*bus.Conn, error) {
		cfg := a.busConfig(name)
		cfg.Options = []nats.Option{server.Option()}
		return dialBus(ctx, cfg, embeddedWait)
	}
}

// stateDir is where state is kept that must survive restarts.
func (a *app) stateDir() (string, error) {
	if dir := a.getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "proofmill"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", exit.Wrap(exit.BadConfig, fmt.Errorf("state directory: %w", err), "set up.store")
	}
	return filepath.Join(home, ".local", "state", "proofmill"), nil
}
