package host

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/bus/embedded"
	"github.com/proofmill/proofmill/pkg/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 60 * time.Second

func connect(t *testing.T) *bus.Conn {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Shutdown)
	conn, err := bus.Connect(t.Context(), bus.Config{Name: "worker-1", Options: []nats.Option{server.Option()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

func ask(t *testing.T, client *http.Client, address, path string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, strings.TrimSpace(string(body))
}

// The endpoints and the fleet's entry tell each state of a service's life.
func TestLife(t *testing.T) {
	conn := connect(t)
	if err := conn.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	h, err := New("synth", 3, Options{
		Conn: conn, Listen: "127.0.0.1:0", Software: "1.2.3", DrainTimeout: 20 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "some_metric 1\n") }),
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Describe(func(info *wire.WorkerInfo) { info.Resident = []string{"winning-2k"} })
	transport := &http.Transport{DisableKeepAlives: true}
	client := &http.Client{Transport: transport}
	defer transport.CloseIdleConnections()
	expect := func(path string, code int, text string) {
		t.Helper()
		if got, body := ask(t, client, h.Address(), path); got != code || !strings.Contains(body, text) {
			t.Errorf("%s: %d %q, want %d %q", path, got, body, code, text)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	err = h.Run(ctx, func(pull, work context.Context) error {
		expect("/startupz", http.StatusServiceUnavailable, "just started")
		expect("/readyz", http.StatusServiceUnavailable, "starting")
		expect("/livez", http.StatusOK, "alive")
		h.SetReady()
		expect("/startupz", http.StatusOK, "started")
		expect("/readyz", http.StatusOK, "ready")
		expect("/metrics", http.StatusOK, "some_metric")
		h.Health.SetStuck("a device hangs")
		expect("/livez", http.StatusServiceUnavailable, "a device hangs")
		h.Health.SetStuck("")
		for deadline := time.Now().Add(patience); ; {
			fleet, err := conn.Fleet(t.Context())
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("not in the fleet as ready: %v", err)
			}
			if len(fleet) == 1 && fleet[0].Ready {
				if i := fleet[0]; i.Name != "worker-1" || i.Service != "synth" || i.Slots != 3 || i.Software != "1.2.3" || len(i.Resident) != 1 {
					t.Errorf("entry %+v", i)
				}
				break
			}
		}
		stop()
		<-pull.Done()
		<-work.Done() // as this body never finishes by itself
		if !errors.Is(context.Cause(work), ErrDrainTimeout) {
			t.Errorf("the work ends with %v", context.Cause(work))
		}
		expect("/readyz", http.StatusServiceUnavailable, "draining")
		h.SetReady()
		expect("/readyz", http.StatusServiceUnavailable, "draining")
		expect("/startupz", http.StatusOK, "started")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if fleet, err := conn.Fleet(t.Context()); err != nil || len(fleet) != 0 {
		t.Errorf("left in the fleet: %v, %v", fleet, err)
	}
}

// A connection that is closed for good ends the service with an error, without waiting for the drain.
func TestConnectionGone(t *testing.T) {
	conn := connect(t)
	h, err := New("gpuprove", 1, Options{Conn: conn, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	err = h.Run(t.Context(), func(pull, work context.Context) error {
		conn.NATS().Close()
		<-work.Done()
		<-pull.Done()
		return nil
	})
	if !errors.Is(err, ErrConnectionClosed) {
		t.Errorf("ended with %v", err)
	}
}

func TestAddressTaken(t *testing.T) {
	taken := httptest.NewServer(http.NotFoundHandler())
	defer taken.Close()
	h, err := New("gateway", 1, Options{Conn: connect(t), Listen: taken.Listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	err = h.Run(t.Context(), func(context.Context, context.Context) error { t.Error("the service runs"); return nil })
	if err == nil || !strings.Contains(err.Error(), "cannot listen") {
		t.Errorf("%v", err)
	}
	if _, err := New("gateway", 1, Options{}); err == nil {
		t.Error("a service without a connection")
	}
}

func TestOutcome(t *testing.T) {
	live, stopped, drained := t.Context(), ended(t, bus.ErrStopped), ended(t, ErrDrainTimeout)
	failure := errors.New("failure")
	if err := Outcome(stopped, nil); err != nil {
		t.Errorf("nothing became %v", err)
	}
	if err := Outcome(live, failure); !errors.Is(err, wire.CodeInternal) || !errors.Is(err, failure) {
		t.Errorf("a failure became %v", err)
	}
	if err := Outcome(stopped, failure); !errors.Is(err, bus.ErrStopped) {
		t.Errorf("the end of the job became %v", err)
	}
	if err := Outcome(drained, failure); !errors.Is(err, ErrDrainTimeout) || errors.Is(err, bus.ErrStopped) {
		t.Errorf("the end of the service became %v", err)
	}
}

func ended(t *testing.T, cause error) context.Context {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	return ctx
}

func TestRetry(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	calls := 0
	err := Retry(t.Context(), log, "x", func() error {
		calls++
		if calls < 3 {
			return wire.Errorf(wire.CodeStoreUnavailable, "not yet")
		}
		return nil
	})
	if err != nil || calls != 3 {
		t.Errorf("%d calls, %v", calls, err)
	}
	if err := Retry(t.Context(), log, "x", func() error { return wire.Errorf(wire.CodeNotPermitted, "no") }); !errors.Is(err, wire.CodeNotPermitted) {
		t.Errorf("%v", err)
	}
	if err := Retry(ended(t, errors.New("over")), log, "x", func() error { return errors.New("not yet") }); err != nil {
		t.Errorf("%v", err)
	}
}
