package cpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/groth16"
)

// Keys in use stay; of the others, the one used longest ago leaves until the budget holds.
func TestKeyringKeepsTheBudget(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sizes := map[string]int64{}
		loads := map[string]int{}
		k := newKeyring(100, func(_ context.Context, circuit string) (*groth16.Prover, int64, error) {
			loads[circuit]++
			return new(groth16.Prover), sizes[circuit], nil
		})
		for i := range 6 {
			sizes[fmt.Sprint(i)] = rapid.Int64Range(1, 120).Draw(rt, "size")
		}
		inUse := map[string][]func(){}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			c := fmt.Sprint(rapid.IntRange(0, 5).Draw(rt, "circuit"))
			if releases := inUse[c]; len(releases) > 0 && rapid.Bool().Draw(rt, "release") {
				releases[0]()
				inUse[c] = releases[1:]
			} else {
				held := slices.Contains(k.resident(), c)
				_, release, loaded, err := k.get(t.Context(), c)
				if err != nil || loaded == held {
					rt.Fatalf("circuit %s: held %t, loaded %t, %v", c, held, loaded, err)
				}
				inUse[c] = append(inUse[c], release)
			}
			var total, used int64
			resident := k.resident()
			for _, r := range resident {
				total += sizes[r]
			}
			for circuit, releases := range inUse {
				if len(releases) > 0 {
					used += sizes[circuit]
					if !slices.Contains(resident, circuit) {
						rt.Fatalf("circuit %s is in use and gone", circuit)
					}
				}
			}
			if total > max(100, used) && len(resident) > 1 {
				rt.Fatalf("%d bytes are held, %d of them in use", total, used)
			}
		}
	})
}

func TestKeyringForgetsFailures(t *testing.T) {
	failure := errors.New("failure")
	calls := 0
	k := newKeyring(0, func(context.Context, string) (*groth16.Prover, int64, error) {
		calls++
		if calls == 1 {
			return nil, 0, failure
		}
		return new(groth16.Prover), 1, nil
	})
	if _, _, _, err := k.get(t.Context(), "a"); !errors.Is(err, failure) || len(k.resident()) != 0 {
		t.Errorf("%v, %v", err, k.resident())
	}
	_, release, loaded, err := k.get(t.Context(), "a")
	if err != nil || !loaded {
		t.Fatal(err)
	}
	release()
	k.clear()
	if len(k.resident()) != 0 {
		t.Error("keys are left")
	}
}
