package doctor

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"go.uber.org/goleak"
)

func startServer(t *testing.T, jetstream bool) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: jetstream, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
		JetStreamMaxStore: 1 << 30, JetStreamMaxMemory: 1 << 28,
	})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	return s.ClientURL()
}

func TestNATSTellsItsLimits(t *testing.T) {
	// What is there before the test's server is others'; the connection's goroutines must be gone when the check is.
	url := startServer(t, true)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	before := goleak.IgnoreCurrent()
	c := NATS(ctx, url, "")
	if err := goleak.Find(before, goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.(*Server).startGoRoutine.func1")); err != nil {
		t.Error(err)
	}
	if c.Status != OK || c.Details["version"] != server.VERSION || !strings.Contains(c.Text, "JetStream holds 0 MiB of ") {
		t.Errorf("%+v", c)
	}
	if c := NATS(ctx, url, "elsewhere"); c.Status != Failed || c.Do == "" {
		t.Errorf("unknown domain: %+v", c)
	}
}

func TestNATSWithoutJetStreamFails(t *testing.T) {
	url := startServer(t, false)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if c := NATS(ctx, url, ""); c.Status != Failed || !strings.Contains(c.Text, "JetStream") || !strings.Contains(c.Do, "enable") {
		t.Errorf("%+v", c)
	}
}

func TestAbsentNATSFailsWithoutPasswords(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := NATS(ctx, "nats://user:secret@127.0.0.1:1, nats://token@127.0.0.1:1", "")
	if c.Status != Failed || strings.Contains(c.Text+c.Details["url"].(string), "secret") || strings.Contains(c.Text, "token") {
		t.Errorf("%+v", c)
	}
}
