package gpu

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Ledger keeps account of a device's memory: each reservation has a name, and their sum never exceeds the budget. It is safe for
// concurrent use.
type Ledger struct {
	mu      sync.Mutex
	budget  int64
	used    int64
	entries map[string]int64
}

// Reservation is a named amount of memory.
type Reservation struct {
	Name  string
	Bytes int64
}

// NewLedger makes a ledger with a budget in bytes.
func NewLedger(budget int64) *Ledger { return &Ledger{budget: budget, entries: make(map[string]int64)} }

// Reserve adds bytes to what is reserved under a name. Beyond the budget nothing is reserved, and the error, which wraps [ErrMemory],
// says what holds the rest.
func (l *Ledger) Reserve(name string, bytes int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if bytes < 0 || bytes > l.budget-l.used {
		return fmt.Errorf("reserve %d bytes for %s: %w: %d of a budget of %d are free (%s)", bytes, name, ErrMemory, l.budget-l.used, l.budget, l.list())
	}
	if bytes > 0 {
		l.used += bytes
		l.entries[name] += bytes
	}
	return nil
}

// Release gives back bytes of a reservation. More than it holds is a programming error and panics.
func (l *Ledger) Release(name string, bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if bytes < 0 || bytes > l.entries[name] {
		panic(fmt.Sprintf("memory ledger: %d bytes of %s released, it has %d", bytes, name, l.entries[name]))
	}
	l.used -= bytes
	if l.entries[name] -= bytes; l.entries[name] == 0 {
		delete(l.entries, name)
	}
}

// Budget is in bytes.
func (l *Ledger) Budget() int64 { return l.budget }

// Used is how much is reserved.
func (l *Ledger) Used() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.used
}

// Free is how much can be reserved.
func (l *Ledger) Free() int64 { return l.budget - l.Used() }

// Reservations lists what is reserved, the largest first.
func (l *Ledger) Reservations() []Reservation {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sorted()
}

func (l *Ledger) sorted() []Reservation {
	out := make([]Reservation, 0, len(l.entries))
	for name, bytes := range l.entries {
		out = append(out, Reservation{name, bytes})
	}
	slices.SortFunc(out, func(a, b Reservation) int {
		if a.Bytes != b.Bytes {
			return int(min(max(b.Bytes-a.Bytes, -1), 1))
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

func (l *Ledger) list() string {
	var b strings.Builder
	for i, r := range l.sorted() {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %d", r.Name, r.Bytes)
	}
	if b.Len() == 0 {
		return "nothing is reserved"
	}
	return b.String()
}
