package services_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/bus/embedded"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/telemetry"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/services/gateway"
	"github.com/proofmill/proofmill/services/gpuprove"
	"github.com/proofmill/proofmill/services/gpuprove/cpu"
	"github.com/proofmill/proofmill/services/internal/inputs"
	"github.com/proofmill/proofmill/services/synth"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is a time that no run needs, however busy the machine: a PoRep on a loaded one takes minutes.
const patience = 10 * time.Minute

// testLog passes log lines to the test.
type testLog struct{ t testing.TB }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Log(string(bytes.TrimSpace(p)))
	return len(p), nil
}

// fleet is a server with the services of a test.
type fleet struct {
	t         testing.TB
	server    *embedded.Server
	params    string
	telemetry *telemetry.Telemetry
	log       *slog.Logger
	client    *bus.Conn     // that the test itself looks with
	drain     time.Duration // of services started from now on; 0: the default
}

func newFleet(t testing.TB, params string) *fleet {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Shutdown)
	tel, err := telemetry.Start(t.Context(), telemetry.Config{Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tel.Shutdown(context.Background()) })
	f := &fleet{t: t, server: server, params: params, telemetry: tel, log: slog.New(slog.NewTextHandler(testLog{t}, nil))}
	f.client = f.connect("test")
	return f
}

// connect makes a connection that is closed at the end of the test.
func (f *fleet) connect(name string) *bus.Conn {
	f.t.Helper()
	c, err := bus.Connect(f.t.Context(), bus.Config{Name: name, Options: []nats.Option{f.server.Option()}, Log: f.log})
	if err != nil {
		f.t.Fatal(err)
	}
	var once sync.Once
	f.t.Cleanup(func() { once.Do(c.Close) })
	return c
}

// process is a running service. Stop drains it; kill cuts its connection, so that it can settle nothing any more.
type process struct {
	t      testing.TB
	conn   *bus.Conn
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // when ended
	once   sync.Once
	killed bool
}

type service interface {
	Run(ctx context.Context) error
	Ready() <-chan struct{}
}

func (f *fleet) run(name string, create func(conn *bus.Conn, host gateway.HostOptions) (service, error)) *process {
	f.t.Helper()
	conn := f.connect(name)
	s, err := create(conn, gateway.HostOptions{
		Conn: conn, Log: f.log.With("process", name), Tracers: f.telemetry.TracerProvider(), Meters: f.telemetry.MeterProvider(), DrainTimeout: f.drain,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(f.t.Context()))
	p := &process{t: f.t, conn: conn, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		p.err = s.Run(ctx)
	}()
	f.t.Cleanup(p.stop)
	select {
	case <-s.Ready():
	case <-p.ended:
		f.t.Fatalf("%s ended: %v", name, p.err)
	case <-time.After(patience):
		f.t.Fatalf("%s is not ready", name)
	}
	return p
}

func (p *process) stop() {
	p.once.Do(func() {
		p.cancel()
		if <-p.ended; p.err != nil && !p.killed {
			p.t.Errorf("service ended with %v", p.err)
		}
		p.conn.Close()
	})
}

func (p *process) kill() {
	p.killed = true
	p.conn.NATS().Close()
	p.once.Do(func() {
		<-p.ended
		p.cancel()
	})
}

func (f *fleet) gateway(name string) *process {
	return f.run(name, func(_ *bus.Conn, host gateway.HostOptions) (service, error) {
		return gateway.New(gateway.Options{Host: host, Params: gateway.ParamsDir{Path: f.params, AllowTest: true}, TestProofs: true})
	})
}

// production is a gateway that allows nothing made for tests.
func (f *fleet) production(_ *bus.Conn, host gateway.HostOptions) (service, error) {
	return gateway.New(gateway.Options{Host: host, Params: gateway.ParamsDir{Path: f.params}})
}

// synthFor serves a fixture's circuit whether a prover has announced it or not.
func (f *fleet) synthFor(name string, t testing.TB) func(*bus.Conn, gateway.HostOptions) (service, error) {
	return func(_ *bus.Conn, host gateway.HostOptions) (service, error) {
		return synth.New(synth.Options{Host: host, TestProofs: true, Systems: &systems, Circuits: []string{readFixture(t, name).circuit(t).ID()}})
	}
}

// synth serves what provers announce: start one before.
func (f *fleet) synth() {
	f.run("synth-1", func(_ *bus.Conn, host gateway.HostOptions) (service, error) {
		return synth.New(synth.Options{Host: host, TestProofs: true, Systems: &systems})
	})
}

func (f *fleet) backend() *cpu.Backend {
	f.t.Helper()
	b, err := cpu.Open(f.t.Context(), cpu.Options{Params: cpu.ParamsDir{Path: f.params, AllowTest: true}, Systems: &systems, Log: f.log})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = b.Close() })
	return b
}

func (f *fleet) prover(name string, backend gpuprove.Backend) *process {
	return f.run(name, func(_ *bus.Conn, host gateway.HostOptions) (service, error) {
		return gpuprove.New(gpuprove.Options{Host: host, Backend: backend})
	})
}

// all starts one of each service.
func (f *fleet) all() {
	f.gateway("gateway-1")
	f.prover("prove-1", f.backend())
	f.synth()
}

// submit publishes a request.
func (f *fleet) submit(r *wire.Request) wire.JobKey {
	f.t.Helper()
	if _, err := f.client.PublishRequest(f.t.Context(), r); err != nil {
		f.t.Fatal(err)
	}
	return r.Key()
}

// result waits for the result of a run.
func (f *fleet) result(key wire.JobKey, run uint32) *wire.Result {
	f.t.Helper()
	var last *wire.Result
	eventually(f.t, "result of job "+key.ID.Short(), func() bool {
		r, err := f.client.Result(f.t.Context(), key)
		if err != nil && !errors.Is(err, wire.CodeNoSuchJob) {
			f.t.Fatal(err)
		}
		last = r
		return err == nil && r.Run >= run
	})
	return last
}

// stored counts the messages that a stream ever had.
func (f *fleet) stored(stream string) uint64 {
	f.t.Helper()
	s, err := f.client.JetStream().Stream(f.t.Context(), stream)
	if err != nil {
		f.t.Fatal(err)
	}
	info, err := s.Info(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return info.State.LastSeq
}

// verified checks a completed result with the verifying key of the golden files.
func (f *fleet) verified(r *wire.Request, result *wire.Result, name string) {
	f.t.Helper()
	if err := result.Err(); err != nil {
		f.t.Fatalf("%s: %s: %v", name, result.Status, err)
	}
	vk, err := groth16.OpenVerifyingKey(filepath.Join(golden, name+".vk"))
	if err != nil {
		f.t.Fatal(err)
	}
	prepared, err := groth16.Prepare(vk)
	if err != nil {
		f.t.Fatal(err)
	}
	asked := inputs.Statement(&r.Statement)
	for i := range r.Inputs.List {
		asked.Vanilla = append(asked.Vanilla, r.Inputs.List[i].Inline)
	}
	job, err := engine.Open(f.t.Context(), asked, engine.Options{TestProofs: true})
	if err != nil {
		f.t.Fatal(err)
	}
	if err := job.VerifyResult(prepared, result.Proof); err != nil {
		f.t.Fatal(err)
	}
}

// eventually waits until a condition holds that no event tells of.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("%s: not in %v", what, patience)
		}
	}
}
