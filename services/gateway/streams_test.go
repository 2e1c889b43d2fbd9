package gateway

import (
	"context"
	"log/slog"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/bus/embedded"
)

// A server that is restarted has lost what was in memory. The fleet comes back while the gateway runs on.
func TestStreamsAfterRestartOfTheServer(t *testing.T) {
	dir := t.TempDir()
	serve := func(port int) *embedded.Server {
		server, err := embedded.Start(t.Context(), embedded.Config{StoreDir: dir, Port: port})
		if err != nil {
			t.Fatal(err)
		}
		return server
	}
	server := serve(-1)
	address, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := bus.Connect(t.Context(), bus.Config{URL: server.URL(), Name: "gateway-1", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Host: HostOptions{Conn: conn, Log: slog.New(slog.DiscardHandler)}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	<-s.Ready()

	server.Shutdown()
	port, err := strconv.Atoi(address.Port())
	if err != nil {
		t.Fatal(err)
	}
	server = serve(port)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for deadline := time.Now().Add(time.Minute); ; <-look.C {
		once, stop := context.WithTimeout(t.Context(), time.Second)
		fleet, err := conn.Fleet(once)
		stop()
		if err == nil && len(fleet) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the fleet is %v, %v", fleet, err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	conn.Close()
	server.Shutdown()
}
