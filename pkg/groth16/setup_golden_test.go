package groth16_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

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

func (f *fixture) toxic(t testing.TB) *groth16.Toxic {
	t.Helper()
	w := f.Parameters.Toxic
	return &groth16.Toxic{
		Alpha: scalar(t, w["alpha"]), Beta: scalar(t, w["beta"]), Gamma: scalar(t, w["gamma"]),
		Delta: scalar(t, w["delta"]), Tau: scalar(t, w["tau"]),
	}
}

// params makes the fixture's parameters, or takes those of an earlier run where the environment
// names a folder for them.
func (f *fixture) params(t testing.TB, sys *r1cs.System, name string) string {
	t.Helper()
	dir := os.Getenv("PROOFMILL_TEST_PARAMS")
	if dir == "" {
		dir = t.TempDir()
	}
	path := filepath.Join(dir, filepath.Base(name)+".params")
	if m, err := groth16.ReadMarker(path); err == nil && m != nil && m.Digests.SHA256 == f.Parameters.SHA256 {
		if info, err := os.Stat(path); err == nil && info.Size() == f.Parameters.Bytes {
			return path
		}
	}
	start := time.Now()
	res, err := groth16.SetupFile(context.Background(), sys, path, groth16.SetupOptions{Toxic: f.toxic(t), Circuit: filepath.Base(name)})
	if err != nil {
		t.Fatal(err)
	}
	c := res.Counts
	t.Logf("%d points of G1 and %d of G2 in %v", c.H+c.L+c.A+c.BG1, c.BG2, time.Since(start))
	return path
}

// slow are the fixtures whose parameters take minutes or a gigabyte.
var slow = map[string]bool{"2KiB/porep-2KiB": true, "2KiB/update-2KiB": true}

// skipSlow skips fixtures that need minutes unless slow checks are asked for.
func skipSlow(t testing.TB, name string) {
	t.Helper()
	if slow[name] && os.Getenv("PROOFMILL_SLOW") == "" {
		t.Skip("parameters of this circuit take minutes; set PROOFMILL_SLOW=1 to run")
	}
	if testing.Short() && name != "2KiB/window-2KiB" {
		t.Skip("parameters of this circuit take seconds; run without -short")
	}
}

// TestSetupMakesTheReferencesBytes compares whole files by their digests.
func TestSetupMakesTheReferencesBytes(t *testing.T) {
	for _, name := range proved {
		t.Run(name, func(t *testing.T) {
			skipSlow(t, name)
			f := readFixture(t, name)
			path := f.params(t, f.system(t), name)
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
