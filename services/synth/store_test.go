package synth

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/bus/embedded"
	"github.com/proofmill/proofmill/pkg/wire"
)

// A witness that is larger than the whole bucket is not waited for.
func TestWitnessThatNeverFits(t *testing.T) {
	server, err := embedded.Start(t.Context(), embedded.Config{StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Shutdown)
	conn, err := bus.Connect(t.Context(), bus.Config{Name: "synth-1", BlobLimitBytes: 4096, Options: []nats.Option{server.Option()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if err := conn.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Host: HostOptions{Conn: conn, Log: slog.New(slog.DiscardHandler)}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := s.store(ctx, make([]byte, 12192)); !errors.Is(err, wire.CodeStorageFull) || ctx.Err() != nil {
		t.Errorf("got %v", err)
	}
	if _, err := s.store(ctx, make([]byte, 1024)); err != nil {
		t.Errorf("one that fits: %v", err)
	}
}
