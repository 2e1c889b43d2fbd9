package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/proofmill/proofmill/pkg/bus"
)

func init() {
	register(groupServices, serviceCommand(serviceGateway, "Take requests, hand out partitions, verify and release results"))
	register(groupServices, serviceCommand(serviceSynth, "Make witnesses from vanilla proofs"))
	register(groupServices, serviceCommand(serviceGPUProve, "Make proofs from witnesses"))
}

// synthGCPercent lets a synth's garbage grow to a quarter of what it keeps. That is circuits of hundreds of MB without
// pointers, which cost nothing to scan, so that room is worth more than the rarer collections of the default.
const synthGCPercent = 25

// serviceCommand makes the command that runs one service against a NATS server.
func serviceCommand(name, short string) builder {
	return func(a *app) *cobra.Command {
		command := &cobra.Command{
			Use: name, Short: short,
			RunE: func(command *cobra.Command, _ []string) error {
				if name == serviceSynth && a.getenv("GOGC") == "" {
					debug.SetGCPercent(synthGCPercent)
				}
				return a.runServices(command.Context(), a.connect, func() { a.logs.Info("ready", "service", name) }, name)
			},
		}
		a.addNATSFlags(command)
		a.addParamsFlags(command)
		flags := command.Flags()
		a.config.Flag(flags, "listen", name+".listen")
		a.config.Flag(flags, "slots", name+".slots")
		a.config.Flag(flags, "threads", name+".threads")
		a.config.Flag(flags, "drain", "service.drain")
		a.config.Flag(flags, "name", "service.name")
		if name == serviceGPUProve {
			a.config.Flag(flags, "backend", "gpuprove.backend")
			a.config.Flag(flags, "library", "gpuprove.library")
			a.config.Flag(flags, "devices", "gpuprove.devices")
			a.config.Flag(flags, "vram", "gpuprove.vram")
			a.config.Flag(flags, "circuits", "gpuprove.circuits")
		}
		return command
	}
}

// connect is the connector to the servers of the settings.
func (a *app) connect(ctx context.Context, name string) (*bus.Conn, error) {
	options, err := a.nats.options()
	if err != nil {
		return nil, err
	}
	cfg := a.busConfig(name)
	cfg.URL, cfg.Domain, cfg.Options = a.nats.URL, a.nats.Domain, options
	return dialBus(ctx, cfg, time.Duration(a.nats.Timeout))
}

func (a *app) busConfig(name string) bus.Config {
	return bus.Config{
		Name: name, Prefix: a.nats.Prefix, Replicas: a.fleet.service.Replicas,
		BlobLimitBytes: int64(a.fleet.service.BlobLimit), InputLimitBytes: int64(a.fleet.service.InputLimit), Log: a.logs.Logger,
	}
}

// dialBus connects and makes the streams that are missing.
func dialBus(ctx context.Context, cfg bus.Config, timeout time.Duration) (*bus.Conn, error) {
	first, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := bus.Connect(first, cfg)
	if err != nil {
		return nil, notReached(err, "start a NATS server with JetStream, or say --nats URL; `proofmill up` brings its own")
	}
	if err := conn.Setup(first); err != nil {
		conn.Close()
		return nil, fmt.Errorf("streams: %w", err)
	}
	return conn, nil
}
