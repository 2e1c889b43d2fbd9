package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/config"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/version"
	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/services/gateway"
	"github.com/proofmill/proofmill/services/gpuprove"
	"github.com/proofmill/proofmill/services/gpuprove/cpu"
	"github.com/proofmill/proofmill/services/gpuprove/cuda"
	"github.com/proofmill/proofmill/services/synth"
)

// Settings of the services. Addresses are on loopback: health and metrics tell much and ask for no password.
type (
	serviceSettings struct {
		Name       string          `toml:"name" doc:"Name of the process in the fleet; empty: service, host and a random part"`
		Drain      config.Duration `toml:"drain" doc:"How long work in hand may take after a stop was asked for; then it goes back to the queue"`
		Replicas   int             `toml:"replicas" doc:"Replicas of streams and buckets; 3 on a cluster of three servers"`
		BlobLimit  config.Size     `toml:"blob-limit" doc:"Largest size of all witness blobs waiting; 0: no limit"`
		InputLimit config.Size     `toml:"input-limit" doc:"Largest size of all inputs waiting; 0: no limit"`
	}
	gatewaySettings struct {
		Listen   string `toml:"listen" doc:"Address of health and metrics; empty: none"`
		Slots    int    `toml:"slots" doc:"Requests read at once"`
		Verify   int    `toml:"verify-slots" doc:"Partition proofs verified at once"`
		Threads  int    `toml:"threads" doc:"Threads that decode one request; 0: all processors"`
		Attempts int    `toml:"attempts" doc:"How often a partition is made before its job fails"`
	}
	synthSettings struct {
		Listen   string      `toml:"listen" doc:"Address of health and metrics; empty: none"`
		Slots    int         `toml:"slots" doc:"Partitions made at once"`
		Threads  int         `toml:"threads" doc:"Threads of one partition; 0: all processors"`
		Cache    config.Size `toml:"cache" doc:"Memory for decoded inputs that further partitions need"`
		Circuits []string    `toml:"circuits" doc:"Circuits to serve, such as porep-32g; empty: those that the fleet's provers serve"`
	}
	gpuproveSettings struct {
		Listen   string      `toml:"listen" doc:"Address of health and metrics; empty: none"`
		Backend  string      `toml:"backend" doc:"What proves: cpu or cuda"`
		Slots    int         `toml:"slots" doc:"Proofs under way at once"`
		Threads  int         `toml:"threads" doc:"Threads of one proof; 0: all processors"`
		Keys     config.Size `toml:"key-memory" doc:"Memory for keys of the cpu backend; the least used leave it; 0: no limit"`
		Library  string      `toml:"library" doc:"Path of the CUDA library; empty: beside the program, or where the system looks"`
		Devices  []string    `toml:"devices" doc:"UUIDs of the GPUs to use; empty: all that CUDA_VISIBLE_DEVICES leaves"`
		VRAM     config.Size `toml:"vram" doc:"Most memory taken on each GPU; 0: what is free"`
		Circuits []string    `toml:"circuits" doc:"Circuits to serve, such as porep-32g; empty: all whose parameters are there"`
	}
)

// fleetSettings are the settings of all services.
type fleetSettings struct {
	service  serviceSettings
	gateway  gatewaySettings
	synth    synthSettings
	gpuprove gpuproveSettings
}

func defaultFleet() fleetSettings {
	return fleetSettings{
		service:  serviceSettings{Drain: config.Duration(time.Minute), Replicas: 1},
		gateway:  gatewaySettings{Listen: "127.0.0.1:9470", Slots: gateway.DefaultSlots, Verify: gateway.DefaultVerifySlots, Attempts: gateway.DefaultMaxAttempts},
		synth:    synthSettings{Listen: "127.0.0.1:9471", Slots: 1, Cache: synth.DefaultCacheBytes},
		gpuprove: gpuproveSettings{Listen: "127.0.0.1:9472", Backend: backendCPU, Slots: 1},
	}
}

func (f *fleetSettings) declare(c *config.Schema) {
	c.Section("service", &f.service)
	c.Section("gateway", &f.gateway)
	c.Section("synth", &f.synth)
	c.Section("gpuprove", &f.gpuprove)
}

// maxCount is more slots or threads than a machine has.
const maxCount = 4096

// checkCount checks a setting that counts things of this machine.
func checkCount(key string, n, least int) error {
	if n < least || n > maxCount {
		return fmt.Errorf("%s is %d, want %d to %d", key, n, least, maxCount)
	}
	return nil
}

// Validate checks the counts.
func (s *serviceSettings) Validate() error {
	if s.Replicas < 1 || s.Replicas > 5 {
		return fmt.Errorf("service.replicas is %d, want 1 to 5", s.Replicas)
	}
	if s.Name != "" {
		return wire.ValidateWorker(s.Name)
	}
	return nil
}

// Validate checks the counts.
func (s *gatewaySettings) Validate() error {
	return errors.Join(checkCount("gateway.slots", s.Slots, 1), checkCount("gateway.verify-slots", s.Verify, 1),
		checkCount("gateway.threads", s.Threads, 0), checkCount("gateway.attempts", s.Attempts, 1))
}

// Validate checks the counts.
func (s *synthSettings) Validate() error {
	return errors.Join(checkCount("synth.slots", s.Slots, 1), checkCount("synth.threads", s.Threads, 0))
}

// Validate checks the backend's name and the counts.
func (s *gpuproveSettings) Validate() error {
	if err := errors.Join(checkCount("gpuprove.slots", s.Slots, 1), checkCount("gpuprove.threads", s.Threads, 0)); err != nil {
		return err
	}
	if s.Backend != backendCPU && s.Backend != backendCUDA {
		return fmt.Errorf("gpuprove.backend %q is not known: cpu and cuda are", s.Backend)
	}
	return nil
}

// Names of the backends.
const (
	backendCPU  = "cpu"
	backendCUDA = "cuda"
)

// Names of the services.
const (
	serviceGateway  = "gateway"
	serviceSynth    = "synth"
	serviceGPUProve = "gpuprove"
)

// connector makes the connection of a process with a name.
type connector func(ctx context.Context, name string) (*bus.Conn, error)

// runner is what every service has.
type runner interface {
	Run(ctx context.Context) error
	Ready() <-chan struct{}
	Address() string
}

// runServices runs services in this process until ctx ends and they have drained, or one of them fails, which drains the
// others. ready, if not nil, is called once all take work.
func (a *app) runServices(ctx context.Context, connect connector, ready func(), names ...string) error {
	systems := new(engine.Systems) // circuits are built once for all services of the process
	g, inner := errgroup.WithContext(ctx)
	started := make(chan runner, len(names))
	for _, name := range names {
		g.Go(func() error {
			err := a.runService(inner, connect, systems, name, started)
			if err == nil && inner.Err() == nil {
				err = errors.New("it ended by itself")
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
	if ready != nil {
		g.Go(func() error {
			for range names {
				select {
				case r := <-started:
					select {
					case <-r.Ready():
					case <-inner.Done():
						return nil
					}
				case <-inner.Done():
					return nil
				}
			}
			ready()
			return nil
		})
	}
	return g.Wait()
}

func (a *app) runService(ctx context.Context, connect connector, systems *engine.Systems, name string, started chan<- runner) error {
	fullName := a.fleet.service.Name
	if fullName == "" {
		fullName = uniqueName(name)
	}
	conn, err := connect(ctx, fullName)
	if err != nil {
		return err
	}
	defer conn.Close()
	service, closeService, err := a.newService(ctx, conn, systems, name)
	if err != nil {
		return err
	}
	defer closeService()
	started <- service
	return service.Run(ctx)
}

// newService makes a service from its settings.
func (a *app) newService(ctx context.Context, conn *bus.Conn, systems *engine.Systems, name string) (runner, func(), error) {
	log := a.logs.With(slog.String("service", name))
	host := gateway.HostOptions{
		Conn: conn, Log: log, Tracers: a.telemetry.TracerProvider(), Meters: a.telemetry.MeterProvider(), Metrics: a.telemetry.MetricsHandler(),
		DrainTimeout: time.Duration(a.fleet.service.Drain), Software: version.Get().Version,
	}
	dir, err := a.params.directory()
	if err != nil {
		return nil, nil, err
	}
	nothing := func() {}
	switch name {
	case serviceGateway:
		s := &a.fleet.gateway
		host.Listen = s.Listen
		service, err := gateway.New(gateway.Options{
			Host: host, Params: gateway.ParamsDir{Path: dir, AllowTest: a.params.Test}, TestProofs: a.params.Test,
			Slots: s.Slots, VerifySlots: s.Verify, Workers: s.Threads, MaxAttempts: s.Attempts,
		})
		return service, nothing, err
	case serviceSynth:
		s := &a.fleet.synth
		host.Listen = s.Listen
		service, err := synth.New(synth.Options{
			Host: host, Slots: s.Slots, Workers: s.Threads, TestProofs: a.params.Test, Circuits: s.Circuits, CacheBytes: int64(s.Cache), Systems: systems,
		})
		return service, nothing, err
	default:
		s := &a.fleet.gpuprove
		host.Listen = s.Listen
		backend, err := a.openBackend(ctx, dir, systems, log)
		if err != nil {
			return nil, nil, exit.Wrap(exit.Unavailable, err, "")
		}
		service, err := gpuprove.New(gpuprove.Options{Host: host, Backend: backend, Slots: s.Slots})
		return service, func() {
			if err := backend.Close(); err != nil {
				log.Warn("backend did not close", "error", err)
			}
		}, err
	}
}

// openBackend opens what proves. There is no silent change from one backend to the other.
func (a *app) openBackend(ctx context.Context, dir string, systems *engine.Systems, log *slog.Logger) (gpuprove.Backend, error) {
	s := &a.fleet.gpuprove
	if s.Backend == backendCUDA {
		return cuda.Open(ctx, cuda.Options{
			Params: cuda.ParamsDir{Path: dir, AllowTest: a.params.Test}, Circuits: s.Circuits, Library: s.Library, Devices: s.Devices,
			DeviceBytes: int64(s.VRAM), InFlight: s.Slots, Systems: systems, Log: log,
		})
	}
	return cpu.Open(ctx, cpu.Options{
		Params: cpu.ParamsDir{Path: dir, AllowTest: a.params.Test}, Circuits: s.Circuits, Workers: s.Threads, KeyBytes: int64(s.Keys), Systems: systems, Log: log,
	})
}

// uniqueName is a name that no other process of the fleet has: service, host and a random part, as a token of subjects.
func uniqueName(service string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	host = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		default:
			return '-'
		}
	}, host)
	var b [3]byte
	_, _ = rand.Read(b[:]) // does not fail
	return service + "-" + host[:min(len(host), 32)] + "-" + hex.EncodeToString(b[:])
}
