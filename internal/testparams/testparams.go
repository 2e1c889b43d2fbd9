// Package testparams makes the parameter files that tests prove with, from the published secrets of
// the golden fixtures, and keeps them between runs.
package testparams

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/groth16"
)

// Env names the folder of the files, if it is not .cache/test-params in the repository.
const Env = "PROOFMILL_TEST_PARAMS"

// Fixture is what a golden fixture says of its parameters.
type Fixture struct {
	Circuit engine.Circuit
	Toxic   *groth16.Toxic
	Digests groth16.Digests // of the file that the secrets give
}

// root is the repository: the nearest folder above with a go.mod.
func root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			tb.Fatal("test parameters: no go.mod above the working directory")
		}
		dir = up
	}
}

// Read reads a golden fixture, such as 2KiB/winning-2KiB.
func Read(tb testing.TB, name string) Fixture {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(root(tb), "testdata", "golden", name+".json"))
	if err != nil {
		tb.Fatal(err)
	}
	var golden struct {
		Kind       string `json:"kind"`
		Size       uint64 `json:"sector_size"`
		Parameters struct {
			Toxic   map[string]string `json:"toxic_waste"`
			Bytes   int64             `json:"params_bytes"`
			SHA256  string            `json:"params_sha256"`
			BLAKE2b string            `json:"params_blake2b"`
		} `json:"parameters"`
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		tb.Fatal(err)
	}
	kind, err := filecoin.ParseKind(golden.Kind)
	if err != nil {
		tb.Fatal(err)
	}
	p := golden.Parameters
	f := Fixture{
		Circuit: engine.Circuit{Kind: kind, Size: filecoin.SectorSize(golden.Size)},
		Toxic:   new(groth16.Toxic),
		Digests: groth16.Digests{Bytes: p.Bytes, SHA256: p.SHA256, BLAKE2b: p.BLAKE2b},
	}
	t := f.Toxic
	for secret, to := range map[string]*fr.Element{"alpha": &t.Alpha, "beta": &t.Beta, "gamma": &t.Gamma, "delta": &t.Delta, "tau": &t.Tau} {
		var b [fr.Bytes]byte
		if n, err := hex.Decode(b[:], []byte(p.Toxic[secret])); err != nil || n != len(b) {
			tb.Fatalf("%s has no secret %s", name, secret)
		}
		if *to, err = fr.LittleEndian.Element(&b); err != nil {
			tb.Fatalf("%s: secret %s: %v", name, secret, err)
		}
	}
	return f
}

// Dir is the folder with the parameter files of the fixtures, under the names of Filecoin. What is
// missing is made, by one process at a time: seconds for a WinningPoSt, minutes for a PoRep.
func Dir(tb testing.TB, names ...string) string {
	tb.Helper()
	dir := os.Getenv(Env)
	if dir == "" {
		dir = filepath.Join(root(tb), ".cache", "test-params")
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		tb.Fatal(err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = lock.Close() }() // which releases it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		tb.Fatalf("test parameters: lock: %v", err)
	}
	for _, name := range names {
		f := Read(tb, name)
		if path := filepath.Join(dir, f.file(tb)); !f.complete(path) {
			f.make(tb, path)
		}
	}
	return dir
}

// File is the path of a fixture's parameter file, see Dir.
func File(tb testing.TB, name string) string {
	tb.Helper()
	f := Read(tb, name)
	return filepath.Join(Dir(tb, name), f.file(tb))
}

func (f *Fixture) file(tb testing.TB) string {
	tb.Helper()
	name, err := filecoin.ParamsFile(f.Circuit.Kind, f.Circuit.Size)
	if err != nil {
		tb.Fatal(err)
	}
	return name
}

// complete says whether the file was written whole: its marker, made from what was written, says so.
func (f *Fixture) complete(path string) bool {
	m, err := groth16.ReadMarker(path)
	if err != nil || m == nil || m.Digests != f.Digests {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Size() == f.Digests.Bytes
}

func (f *Fixture) make(tb testing.TB, path string) {
	tb.Helper()
	var systems engine.Systems
	sys, err := systems.Get(tb.Context(), f.Circuit)
	if err != nil {
		tb.Fatal(err)
	}
	made, err := groth16.SetupFile(tb.Context(), sys.System, path, groth16.SetupOptions{
		Toxic: f.Toxic, Circuit: f.Circuit.String(), R1CS: hex.EncodeToString(sys.R1CS[:]),
	})
	if err != nil {
		tb.Fatal(err)
	}
	if made.Digests != f.Digests {
		tb.Fatalf("parameters of %s have digests %+v, want %+v", f.Circuit, made.Digests, f.Digests)
	}
}
