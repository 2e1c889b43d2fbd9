package synth

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/bus/embedded"
	"github.com/proofmill/proofmill/pkg/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is a time that no healthy run needs.
const patience = 60 * time.Second

// messages is a log whose messages are received from it.
type messages chan string

func (m messages) Enabled(context.Context, slog.Level) bool { return true }
func (m messages) WithAttrs([]slog.Attr) slog.Handler       { return m }
func (m messages) WithGroup(string) slog.Handler            { return m }
func (m messages) Handle(_ context.Context, r slog.Record) error {
	m <- r.Level.String() + " " + r.Message
	return nil
}

func join(t *testing.T, server *embedded.Server, name string) *bus.Conn {
	t.Helper()
	conn, err := bus.Connect(t.Context(), bus.Config{Name: name, Options: []nats.Option{server.Option()}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if err := conn.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	return conn
}

// A synth that is started first says once what it waits for, and takes work when a prover says what it serves.
func TestFollowSaysWhatItWaitsFor(t *testing.T) {
	server, err := embedded.Start(t.Context(), embedded.Config{StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Shutdown)
	prover := join(t, server, "prover")
	looks := make(chan *nats.Msg, 1000) // each look at the fleet makes a watch of its bucket
	if _, err := prover.NATS().ChanSubscribe("$JS.API.CONSUMER.CREATE.KV_"+prover.Names().BucketFleet()+".>", looks); err != nil {
		t.Fatal(err)
	}
	log := make(messages, 1000)
	s, err := New(Options{Host: HostOptions{Conn: join(t, server, "synth"), Log: slog.New(log)}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()

	var said []string
	hear := func(what string) {
		t.Helper()
		for {
			select {
			case m := <-log:
				said = append(said, m)
				if m == what {
					return
				}
			case <-ctx.Done():
				t.Fatalf("%q was not said, but %q", what, said)
			}
		}
	}
	const waits = "INFO waiting: no prover has announced a circuit"
	hear(waits)
	select {
	case <-s.Ready():
		t.Error("it is ready for no circuit")
	default:
	}

	for range 4 {
		select {
		case <-looks:
		case <-ctx.Done():
			t.Fatal("it looked no more at the fleet")
		}
	}
	beats, end := context.WithCancel(ctx)
	beating := make(chan error, 1)
	info := &wire.WorkerInfo{Name: "prover", Service: "gpuprove", Circuits: []wire.Key{{Circuit: "winning-2k"}}}
	go func() { beating <- prover.RunHeartbeat(beats, func() *wire.WorkerInfo { return info }, nil) }()
	hear("INFO serving")
	select {
	case <-s.Ready():
	case <-ctx.Done():
		t.Error("it is not ready though a prover is there")
	}

	end()
	if err := <-beating; err != nil {
		t.Error(err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	close(log)
	for m := range log {
		said = append(said, m)
	}
	if i := slices.Index(said, waits); slices.Contains(said[i+1:], waits) {
		t.Errorf("it said more than once what it waits for: %q", said)
	}
}
