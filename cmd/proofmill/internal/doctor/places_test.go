package doctor

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/gpu"
	"github.com/proofmill/proofmill/pkg/groth16"
)

// winning is the check of the smallest circuit's parameters.
func winning(t *testing.T, checks []Check) Check {
	t.Helper()
	for _, c := range checks {
		if c.Name == "parameters winning-2k" {
			return c
		}
	}
	t.Fatalf("no check of winning-2k in %+v", checks)
	return Check{}
}

func TestAbsentParametersMatterWhereTheyAreWanted(t *testing.T) {
	dir := t.TempDir()
	if checks := Params(dir, groth16.PolicyProduction, nil); len(checks) != 1 || checks[0].Status != Warning || !strings.Contains(checks[0].Text, dir) {
		t.Errorf("%+v", checks)
	}
	checks := Params(dir, groth16.PolicyProduction, []string{"winning-2k", "porep-3k"})
	if c := winning(t, checks); c.Status != Failed || c.Do == "" {
		t.Errorf("%+v", c)
	}
	if c := checks[0]; c.Status != Failed || !strings.Contains(c.Text, "porep-3k") {
		t.Errorf("%+v", c)
	}
}

func TestBrokenParametersFail(t *testing.T) {
	dir := t.TempDir()
	name, err := filecoin.ParamsFile(filecoin.Winning, 2<<10)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	checks := Params(dir, groth16.PolicyProduction, nil)
	if c := winning(t, checks); len(checks) != 1 || c.Status != Failed || c.Do == "" {
		t.Errorf("%+v", checks)
	}
}

// TestSelfProofIsExact makes the self-proof on the processor and, where there is a card, on it; then with bytes changed.
func TestSelfProofIsExact(t *testing.T) {
	if testing.Short() {
		t.Skip("parameters take seconds; run without -short")
	}
	dir := t.TempDir()
	f, err := Prepare(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	var proof *groth16.Proof
	c := f.SelfProof("cpu", func() (*groth16.Proof, error) {
		proof, err = f.ProveCPU(t.Context())
		return proof, err
	})
	if c.Status != OK {
		t.Fatalf("%+v", c)
	}
	if lib, err := gpu.Open(os.Getenv("PROOFMILL_CUDA_LIBRARY")); err == nil {
		infos, err := lib.Devices()
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range infos {
			if c := f.SelfProof(info.UUID, func() (*groth16.Proof, error) { return f.ProveGPU(t.Context(), lib, info, 0) }); c.Status != OK {
				t.Errorf("%+v", c)
			}
		}
	}

	wrong := *f
	golden := *f.Golden
	golden.Proof = bytes.Clone(golden.Proof)
	golden.Proof[100] ^= 1
	wrong.Golden = &golden
	if c := wrong.SelfProof("cpu", func() (*groth16.Proof, error) { return proof, nil }); c.Status != Failed || !strings.Contains(c.Text, "byte 100 of 192") {
		t.Errorf("%+v", c)
	}
	if c := f.SelfProof("cpu", func() (*groth16.Proof, error) { return nil, os.ErrPermission }); c.Status != Failed {
		t.Errorf("%+v", c)
	}

	// The parameters are kept, and known as such.
	if c := winning(t, Params(dir, groth16.PolicyTest, nil)); c.Status != OK || c.Details["test_only"] != true {
		t.Errorf("%+v", c)
	}
	if c := winning(t, Params(dir, groth16.PolicyProduction, nil)); c.Status != Failed || c.Details["test_only"] != true {
		t.Errorf("%+v", c)
	}
	again, err := Prepare(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}
}
