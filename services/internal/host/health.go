package host

import (
	"fmt"
	"net/http"
	"sync"
)

// State is where a service stands in its life.
type State int

// The states, in order.
const (
	Starting State = iota
	Ready
	Draining
)

// String is the state in words.
func (s State) String() string { return [...]string{"starting", "ready", "draining"}[s] }

// Health is what a process tells of itself: three answers that an orchestrator asks for.
type Health struct {
	connected func() bool

	mu      sync.Mutex
	state   State
	reason  string
	started bool
	stuck   string // why the process should be ended; empty while it is well
}

// NewHealth begins as starting. The function says whether the connection that the service lives by is up.
func NewHealth(connected func() bool) *Health {
	return &Health{connected: connected, reason: "just started"}
}

// Set moves to a state with a reason. A service that drains stays so.
func (h *Health) Set(s State, reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state == Draining && s != Draining {
		return
	}
	h.state, h.reason = s, reason
	h.started = h.started || s == Ready
}

// SetStuck says that only a restart helps, and why.
func (h *Health) SetStuck(why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stuck = why
}

// State is the current state and its reason; a ready service whose connection is away counts as starting.
func (h *Health) State() (State, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state == Ready && !h.connected() {
		return Starting, "not connected to NATS"
	}
	return h.state, h.reason
}

// Routes adds /startupz (was it ever ready), /readyz (does it take work now) and /livez (is it better than a restart).
func (h *Health) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /startupz", func(w http.ResponseWriter, _ *http.Request) {
		h.mu.Lock()
		started, reason := h.started, h.reason
		h.mu.Unlock()
		answer(w, started, "started", reason)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		state, reason := h.State()
		answer(w, state == Ready, state.String(), reason)
	})
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		h.mu.Lock()
		stuck := h.stuck
		h.mu.Unlock()
		answer(w, stuck == "", "alive", stuck)
	})
}

func answer(w http.ResponseWriter, ok bool, state, reason string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	text := state
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
		text = "no: " + state
		if reason != "" {
			text += ": " + reason
		}
	}
	_, _ = fmt.Fprintln(w, text) // the asker went away
}
