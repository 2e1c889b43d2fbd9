package groth16_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/groth16"
)

// fixture is the part of a golden file that this package needs.
type fixture struct {
	Kind       string `json:"kind"`
	SectorSize uint64 `json:"sector_size"`
	Miner      uint64 `json:"miner_id"`
	Sector     uint64 `json:"sector_number"`
	C1File     string `json:"c1_file"`
	CommR      string `json:"comm_r"`
	CommD      string `json:"comm_d"`
	Ticket     string `json:"ticket"`
	Seed       string `json:"seed"`
	CommROld   string `json:"comm_r_old"`
	CommRNew   string `json:"comm_r_new"`
	CommDNew   string `json:"comm_d_new"`
	Parameters struct {
		A         int               `json:"a"`
		BG1       int               `json:"b_g1"`
		BG2       int               `json:"b_g2"`
		H         int               `json:"h"`
		IC        int               `json:"ic"`
		L         int               `json:"l"`
		Bytes     int64             `json:"params_bytes"`
		SHA256    string            `json:"params_sha256"`
		BLAKE2b   string            `json:"params_blake2b"`
		VKFile    string            `json:"vk_file"`
		VKSHA256  string            `json:"vk_sha256"`
		Toxic     map[string]string `json:"toxic_waste"`
		CacheName string            `json:"cache_identifier"`
	} `json:"parameters"`
	VanillaFiles []string `json:"vanilla_files"`
	Sectors      []struct {
		VanillaFile string `json:"vanilla_file"`
	} `json:"sectors"`
	Partitions []struct {
		Proof   string `json:"proof"`
		R       string `json:"r"`
		S       string `json:"s"`
		Witness struct {
			Inputs []string `json:"inputs"`
		} `json:"witness"`
	} `json:"partitions"`
}

// proved are the fixtures that have keys and proofs.
var proved = []string{
	"2KiB/winning-2KiB", "2KiB/window-2KiB", "2KiB/porep-2KiB", "2KiB/update-2KiB",
	"32KiB/winning-32KiB", "32KiB/window-32KiB",
}

func golden(name string) string { return filepath.Join("..", "..", "testdata", "golden", name) }

func readFixture(t testing.TB, name string) *fixture {
	t.Helper()
	b, err := os.ReadFile(golden(name + ".json"))
	if err != nil {
		t.Fatal(err)
	}
	f := new(fixture)
	if err := json.Unmarshal(b, f); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) key(t testing.TB, name string) ([]byte, *groth16.VerifyingKey) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(filepath.Dir(golden(name)), f.Parameters.VKFile))
	if err != nil {
		t.Fatal(err)
	}
	vk, err := groth16.ParseVerifyingKey(b)
	if err != nil {
		t.Fatal(err)
	}
	return b, vk
}

func (f *fixture) proof(t testing.TB, k int) []byte {
	t.Helper()
	b, err := hex.DecodeString(f.Partitions[k].Proof)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// inputs are the public inputs of a partition without the constant one.
func (f *fixture) inputs(t testing.TB, k int) []fr.Element {
	t.Helper()
	out := make([]fr.Element, len(f.Partitions[k].Witness.Inputs))
	for i, s := range f.Partitions[k].Witness.Inputs {
		out[i] = scalar(t, s)
	}
	return out[1:]
}

// scalar reads 32 little-endian bytes in hex.
func scalar(t testing.TB, s string) fr.Element {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != fr.Bytes {
		t.Fatalf("scalar %q: %v", s, err)
	}
	e, err := fr.LittleEndian.Element((*[fr.Bytes]byte)(b))
	if err != nil {
		t.Fatal(err)
	}
	return e
}
