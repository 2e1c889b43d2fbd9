package embedded

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestRestartKeepsStreams stores a message in one life of the server and reads it in the next, in the process and by address.
func TestRestartKeepsStreams(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "by", "start")
	life := func(port int, use func(js jetstream.JetStream)) {
		s, err := Start(t.Context(), Config{StoreDir: dir, Port: port, SyncAlways: true, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Shutdown()
		if (s.URL() == "") != (port == 0) {
			t.Errorf("port %d: address %q", port, s.URL())
		}
		closed := make(chan struct{})
		options := []nats.Option{nats.ClosedHandler(func(*nats.Conn) { close(closed) })}
		if port == 0 {
			options = append(options, s.Option())
		}
		nc, err := nats.Connect(s.URL(), options...)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { nc.Close(); <-closed }()
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		use(js)
	}
	life(0, func(js jetstream.JetStream) {
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := js.Publish(t.Context(), "s", []byte("kept")); err != nil {
			t.Fatal(err)
		}
	})
	life(-1, func(js jetstream.JetStream) {
		s, err := js.Stream(t.Context(), "S")
		if err != nil {
			t.Fatal(err)
		}
		if msg, err := s.GetLastMsgForSubject(t.Context(), "s"); err != nil || string(msg.Data) != "kept" {
			t.Errorf("read %v, %v", msg, err)
		}
	})
}

func TestStartErrors(t *testing.T) {
	if _, err := Start(t.Context(), Config{}); err == nil {
		t.Error("no directory is accepted")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), Config{StoreDir: file}); err == nil {
		t.Error("a file is accepted as the directory")
	}
	dir := t.TempDir()
	s, err := Start(t.Context(), Config{StoreDir: dir, Port: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Shutdown()
	if _, err := Start(t.Context(), Config{StoreDir: dir}); err == nil || !strings.Contains(err.Error(), "another server") {
		t.Errorf("a directory in use gives %v", err)
	}
	var port int
	if _, err := fmt.Sscanf(s.URL(), "nats://127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	// The port is taken: said at once, not when the context ends.
	if _, err := Start(t.Context(), Config{StoreDir: t.TempDir(), Port: port}); err == nil || !strings.Contains(err.Error(), "port") {
		t.Errorf("a taken port gives %v", err)
	}
}
