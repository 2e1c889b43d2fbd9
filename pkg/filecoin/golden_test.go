package filecoin

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

const goldenDir = "../../testdata/golden"

// fixture is what the tests use of a golden file of a small sealed sector.
type fixture struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"api_version"`
	SectorSize uint64 `json:"sector_size"`
	MinerID    uint64 `json:"miner_id"`
	Sector     uint64 `json:"sector_number"`
	ProverID   string `json:"prover_id"`
	PoRepID    string `json:"porep_id"`
	C1File     string `json:"c1_file"`
	CommD      string `json:"comm_d"`
	CommR      string `json:"comm_r"`
	Ticket     string `json:"ticket"`
	Seed       string `json:"seed"`
	Randomness string `json:"randomness"`
	Sectors    []struct {
		Challenges  []uint64 `json:"challenges"`
		CommR       string   `json:"comm_r"`
		Sector      uint64   `json:"sector_number"`
		VanillaFile string   `json:"vanilla_file"`
	} `json:"sectors"`
	CommROld     string   `json:"comm_r_old"`
	CommRNew     string   `json:"comm_r_new"`
	CommDNew     string   `json:"comm_d_new"`
	VanillaFiles []string `json:"vanilla_files"`
	Partitions   []struct {
		Witness struct {
			Inputs []string `json:"inputs"`
		} `json:"witness"`
	} `json:"partitions"`
	dir string
}

func readFixture(t testing.TB, size, name string) *fixture {
	t.Helper()
	f := &fixture{dir: filepath.Join(goldenDir, size)}
	raw, err := os.ReadFile(filepath.Join(f.dir, name+"-"+size+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, f); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) file(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func (f *fixture) c1(t testing.TB) *SealCommit {
	t.Helper()
	c, err := DecodeC1(f.file(t, f.C1File), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (f *fixture) seal(t testing.TB) *SealStatement {
	t.Helper()
	return &SealStatement{Proof: f.c1(t).Proof, Miner: f.MinerID, Sector: f.Sector,
		CommR: unhex(t, f.CommR), CommD: unhex(t, f.CommD), Ticket: unhex(t, f.Ticket), Seed: unhex(t, f.Seed)}
}

func (f *fixture) post(t testing.TB) *PoStStatement {
	t.Helper()
	kind, err := ParseKind(f.Kind)
	if err != nil {
		t.Fatal(err)
	}
	version := APIv1_0_0
	if f.APIVersion == "1.2.0" {
		version = APIv1_2_0
	}
	proof, err := PoStProofFor(kind, SectorSize(f.SectorSize), version)
	if err != nil {
		t.Fatal(err)
	}
	st := &PoStStatement{Proof: proof, Randomness: unhex(t, f.Randomness), Miner: f.MinerID}
	for _, s := range f.Sectors {
		st.Sectors = append(st.Sectors, PublicSector{ID: s.Sector, CommR: unhex(t, s.CommR)})
	}
	return st
}

func (f *fixture) update(t testing.TB) *UpdateStatement {
	t.Helper()
	proof, err := UpdateProofFor(SectorSize(f.SectorSize))
	if err != nil {
		t.Fatal(err)
	}
	return &UpdateStatement{Proof: proof, CommROld: unhex(t, f.CommROld), CommRNew: unhex(t, f.CommRNew), CommDNew: unhex(t, f.CommDNew)}
}

func unhex(t testing.TB, s string) Node {
	t.Helper()
	raw, err := hex.DecodeString(s)
	if err != nil || len(raw) != 32 {
		t.Fatalf("%q is not 32 bytes in hex: %v", s, err)
	}
	return Node(raw)
}

// named fixtures of each form, as {size, name}.
var (
	porepFixtures  = [][2]string{{"2KiB", "porep"}, {"2KiB", "porep-v1"}, {"2KiB", "porep-synthetic"}, {"2KiB", "porep-ni"}, {"32KiB", "porep"}}
	postFixtures   = [][2]string{{"2KiB", "window"}, {"2KiB", "window-v1_2"}, {"2KiB", "winning"}, {"32KiB", "window"}, {"32KiB", "winning"}}
	updateFixtures = [][2]string{{"2KiB", "update"}, {"32KiB", "update"}}
)
