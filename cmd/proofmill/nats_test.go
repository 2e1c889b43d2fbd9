package main

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/config"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
	"github.com/proofmill/proofmill/pkg/bus"
)

// Who reaches no server, or not past its door, is told what to do about it.
func TestDialSaysWhatToDo(t *testing.T) {
	guarded, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, Username: "fleet", Password: "secret", NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	guarded.Start()
	t.Cleanup(func() { guarded.Shutdown(); guarded.WaitForShutdown() })
	if !guarded.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	check := func(name string, err error, hint string) {
		t.Helper()
		err = classify(err)
		if exit.CodeOf(err) != exit.Unavailable || !strings.Contains(exit.HintOf(err), hint) {
			t.Errorf("%s: code %d and hint %q for %v, want %q in it", name, exit.CodeOf(err), exit.HintOf(err), err, hint)
		}
	}
	for _, c := range []struct {
		name, url, command, service string
		timeout                     time.Duration // long enough for an answer, where one comes
	}{
		{"nobody listens", "nats://127.0.0.1:1", "`proofmill up`", "JetStream", 100 * time.Millisecond},
		{"credentials are missing", guarded.ClientURL(), "--creds", "--creds", 3 * time.Second},
	} {
		s := defaultNATS()
		s.URL, s.Timeout = c.url, config.Duration(c.timeout)
		_, err := s.dial(t.Context())
		check(c.name, err, c.command)
		_, err = dialBus(t.Context(), bus.Config{URL: c.url, Name: "synth", Log: slog.New(slog.DiscardHandler)}, c.timeout)
		check(c.name, err, c.service)
	}
}
