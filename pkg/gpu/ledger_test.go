package gpu

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLedgerKeepsItsBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.Int64Range(0, 100).Draw(t, "budget")
		l := NewLedger(budget)
		held := map[string]int64{}
		var used int64
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")
			if rapid.Bool().Draw(t, "reserve") {
				n := rapid.Int64Range(0, 60).Draw(t, "bytes")
				err := l.Reserve(name, n)
				if fits := used+n <= budget; fits != (err == nil) {
					t.Fatalf("%d of %d in use, %d more: %v", used, budget, n, err)
				}
				if err != nil {
					if !errors.Is(err, ErrMemory) {
						t.Fatal(err)
					}
					continue
				}
				held[name] += n
				used += n
			} else if held[name] > 0 {
				n := rapid.Int64Range(1, held[name]).Draw(t, "bytes")
				l.Release(name, n)
				held[name] -= n
				used -= n
			}
			if l.Used() != used || l.Free() != budget-used {
				t.Fatalf("used %d and free %d, want %d of %d", l.Used(), l.Free(), used, budget)
			}
			for _, r := range l.Reservations() {
				if r.Bytes != held[r.Name] || r.Bytes == 0 {
					t.Fatalf("%s has %d, want %d", r.Name, r.Bytes, held[r.Name])
				}
			}
		}
	})
}

func TestLedgerSaysWhatHoldsTheMemory(t *testing.T) {
	l := NewLedger(100)
	if err := errors.Join(l.Reserve("small", 10), l.Reserve("large", 70)); err != nil {
		t.Fatal(err)
	}
	err := l.Reserve("more", 30)
	if err == nil || !strings.Contains(err.Error(), "large 70, small 10") {
		t.Errorf("error is %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("more was released than reserved")
		}
	}()
	l.Release("small", 11)
}
