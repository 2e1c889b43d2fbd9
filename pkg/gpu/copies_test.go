package gpu

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestCopiesLeaveTheSumItsScratch checks the choice against its definition.
func TestCopiesLeaveTheSumItsScratch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 6).Draw(t, "most")
		memory := rapid.Int64Range(-10, 200).Draw(t, "memory")
		table := rapid.Int64Range(1, 40).Draw(t, "table")
		best := rapid.Int64Range(1, 60).Draw(t, "best")
		least := rapid.Int64Range(1, best).Draw(t, "least")
		left := func(copies int) int64 { return memory - int64(copies)*table }
		got, err := fittingCopies(most, left, func(copies int, budget int64) (int64, error) {
			if budget < least {
				return 0, fmt.Errorf("%d copies: %w", copies, ErrMemory)
			}
			return min(best, budget), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := 1
		for copies := 2; copies <= most; copies++ {
			if left(copies) >= max(least, best/2, 1) {
				want = copies
			}
		}
		if got != want {
			t.Errorf("%d copies, want %d", got, want)
		}
	})
}

func TestFailedPlanIsAnError(t *testing.T) {
	broken := errors.New("broken")
	for _, at := range []int64{100, 1 << 62} {
		_, err := fittingCopies(4, func(int) int64 { return 100 }, func(_ int, budget int64) (int64, error) {
			if budget == at {
				return 0, broken
			}
			return 10, nil
		})
		if !errors.Is(err, broken) {
			t.Errorf("error is %v", err)
		}
	}
}

func TestLedgerNamesTheCopies(t *testing.T) {
	d := testDevice(t)
	sys := randomSystem(rand.New(rand.NewPCG(8, 8)), false)
	key := KeyPoints{testKey(t, sys)}
	c, err := d.NewCircuit(t.Context(), "test", sys)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.NewKey(t.Context(), "test", key, KeyOptions{Copies: mostCopies + 1}); err == nil {
		t.Error("more copies than can be made were made")
	}
	k, err := c.NewKey(t.Context(), "test", key, KeyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if k.Copies() != 1 {
		t.Errorf("%d copies of few points", k.Copies())
	}
	alone := k.Bytes()
	k.Close()
	if k, err = c.NewKey(t.Context(), "test", key, KeyOptions{Copies: 3}); err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	table := g1Bytes * c.domain.size()
	if k.Copies() != 3 || k.Bytes() != alone+2*table {
		t.Errorf("%d copies in %d bytes, one in %d", k.Copies(), k.Bytes(), alone)
	}
	if want := (Reservation{"key test, H in 3 copies", 3 * table}); !slices.Contains(d.Ledger().Reservations(), want) {
		t.Errorf("reservations are %v, want %v among them", d.Ledger().Reservations(), want)
	}
}
