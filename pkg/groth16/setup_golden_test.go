package groth16_test

import (
	"context"
	"testing"

	"github.com/proofmill/proofmill/internal/testparams"
	"github.com/proofmill/proofmill/pkg/circuit"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

var kinds = map[string]filecoin.Kind{
	"winning": filecoin.Winning, "window": filecoin.Window, "porep": filecoin.PoRep, "update": filecoin.Update,
}

func (f *fixture) system(t testing.TB) *r1cs.System {
	t.Helper()
	sys, err := circuit.Build(kinds[f.Kind], filecoin.SectorSize(f.SectorSize))
	if err != nil {
		t.Fatal(err)
	}
	return sys
}

// skipLong skips fixtures whose parameters take longer than a moment where tests are to be short.
func skipLong(t testing.TB, name string) {
	t.Helper()
	if testing.Short() && name != "2KiB/window-2KiB" {
		t.Skip("parameters of this circuit take seconds to minutes; run without -short")
	}
}

// TestSetupMakesTheReferencesBytes compares whole files by their digests. The files are those that
// all tests prove with: made by this package from the fixtures' secrets, and kept between runs.
func TestSetupMakesTheReferencesBytes(t *testing.T) {
	for _, name := range proved {
		t.Run(name, func(t *testing.T) {
			skipLong(t, name)
			f := readFixture(t, name)
			path := testparams.File(t, name)
			p, err := groth16.OpenParams(path, groth16.PolicyTest)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			want := groth16.Digests{Bytes: f.Parameters.Bytes, SHA256: f.Parameters.SHA256, BLAKE2b: f.Parameters.BLAKE2b}
			got, err := p.Digests(context.Background(), nil)
			if err != nil || got != want {
				t.Errorf("parameters have digests %+v, want %+v, error %v", got, want, err)
			}
			m := p.Marker()
			if m == nil || m.Digests != want || m.VKSHA256 != f.Parameters.VKSHA256 {
				t.Errorf("marker says %+v, want digests %+v and key %s", m, want, f.Parameters.VKSHA256)
			}
			_, vk := f.key(t, name)
			if !p.VerifyingKey().Equal(vk) {
				t.Error("verifying key in the parameters is not the fixture's")
			}
			if own, err := groth16.OpenVerifyingKey(groth16.VerifyingKeyPath(path)); err != nil || !own.Equal(vk) {
				t.Errorf("verifying key next to the parameters is not the fixture's: %v", err)
			}
		})
	}
}
