package services_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/proofmill/proofmill/internal/testparams"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/wire"
)

const golden = "../testdata/golden/2KiB"

// fixture is a sealed sector of 2 KiB with its vanilla proofs and the reference's proofs.
type fixture struct {
	Kind         string   `json:"kind"`
	Size         uint64   `json:"sector_size"`
	Miner        uint64   `json:"miner_id"`
	Sector       uint64   `json:"sector_number"`
	Randomness   string   `json:"randomness"`
	CommROld     string   `json:"comm_r_old"`
	CommRNew     string   `json:"comm_r_new"`
	CommDNew     string   `json:"comm_d_new"`
	C1           string   `json:"c1_file"`
	VanillaFiles []string `json:"vanilla_files"`
	Sectors      []struct {
		File string `json:"vanilla_file"`
	} `json:"sectors"`
	Partitions []struct {
		Proof string `json:"proof"`
	} `json:"partitions"`
}

func readFixture(t testing.TB, name string) *fixture {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(golden, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	f := new(fixture)
	if err := json.Unmarshal(data, f); err != nil {
		t.Fatal(err)
	}
	return f
}

func unhex(t testing.TB, s string) (d wire.Digest) {
	t.Helper()
	if s == "" {
		return d
	}
	if n, err := hex.Decode(d[:], []byte(s)); err != nil || n != len(d) {
		t.Fatalf("hex %q: %v", s, err)
	}
	return d
}

// request is the fixture as a client sends it, with inline inputs.
func (f *fixture) request(t testing.TB) *wire.Request {
	t.Helper()
	kind, err := filecoin.ParseKind(f.Kind)
	if err != nil {
		t.Fatal(err)
	}
	wireKind, err := wire.ParseKind(f.Kind)
	if err != nil {
		t.Fatal(err)
	}
	r := &wire.Request{Account: wire.DefaultAccount, Label: "golden-" + f.Kind, Priority: wire.DefaultPriority(wireKind), Run: 1}
	st := &r.Statement
	st.Kind, st.SectorSize, st.Miner, st.Sector, st.Randomness = wireKind, f.Size, f.Miner, f.Sector, unhex(t, f.Randomness)
	st.CommROld, st.CommRNew, st.CommDNew = unhex(t, f.CommROld), unhex(t, f.CommRNew), unhex(t, f.CommDNew)
	size, files := filecoin.SectorSize(f.Size), f.VanillaFiles
	switch kind {
	case filecoin.PoRep:
		p, err := filecoin.ParseRegisteredSealProof("StackedDrg" + size.String() + "V1_1")
		if err != nil {
			t.Fatal(err)
		}
		st.RegisteredProof, files = uint64(p), []string{f.C1}
	case filecoin.Update:
		p, err := filecoin.UpdateProofFor(size)
		if err != nil {
			t.Fatal(err)
		}
		st.RegisteredProof = uint64(p)
	default:
		p, err := filecoin.PoStProofFor(kind, size, filecoin.APIv1_0_0)
		if err != nil {
			t.Fatal(err)
		}
		st.RegisteredProof = uint64(p)
		for _, s := range f.Sectors {
			files = append(files, s.File)
		}
	}
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(golden, name))
		if err != nil {
			t.Fatal(err)
		}
		r.Inputs.List = append(r.Inputs.List, wire.InlineInput(data))
	}
	return r
}

func (f *fixture) circuit(t testing.TB) engine.Circuit {
	t.Helper()
	kind, err := filecoin.ParseKind(f.Kind)
	if err != nil {
		t.Fatal(err)
	}
	return engine.Circuit{Kind: kind, Size: filecoin.SectorSize(f.Size)}
}

// systems are built once for all tests.
var systems engine.Systems

// testParams is a directory with the parameters of some fixtures.
func testParams(t testing.TB, names ...string) string {
	t.Helper()
	full := make([]string, len(names))
	for i, name := range names {
		full[i] = "2KiB/" + name
	}
	return testparams.Dir(t, full...)
}

// keysOnly is a directory with the verifying keys of some fixtures under the names that services look for.
func keysOnly(t testing.TB, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		c := readFixture(t, name).circuit(t)
		file, err := filecoin.VerifyingKeyFile(c.Kind, c.Size)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(golden, name+".vk"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// proof is the reference's proof of a partition.
func (f *fixture) proof(t testing.TB, k int) []byte {
	t.Helper()
	b, err := hex.DecodeString(f.Partitions[k].Proof)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
