package engine

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proofmill/proofmill/pkg/filecoin"
)

const golden = "../../testdata/golden"

// fixture is a sealed sector's vanilla proofs and what the reference made of them.
type fixture struct {
	Kind            string   `json:"kind"`
	Size            uint64   `json:"sector_size"`
	API             string   `json:"api_version"`
	RegisteredProof string   `json:"registered_proof"`
	Miner           uint64   `json:"miner_id"`
	Sector          uint64   `json:"sector_number"`
	Randomness      string   `json:"randomness"`
	CommROld        string   `json:"comm_r_old"`
	CommRNew        string   `json:"comm_r_new"`
	CommDNew        string   `json:"comm_d_new"`
	C1              string   `json:"c1_file"`
	VanillaFiles    []string `json:"vanilla_files"`
	Sectors         []struct {
		File string `json:"vanilla_file"`
	} `json:"sectors"`
	Parameters struct {
		VK string `json:"vk_file"`
	} `json:"parameters"`
	Partitions []struct {
		Proof   string `json:"proof"`
		Witness struct {
			Aux    string   `json:"aux_digest"`
			Inputs []string `json:"inputs"`
		} `json:"witness"`
	} `json:"partitions"`

	dir string
}

// fixtures reads all golden sectors, by the names of their files.
func fixtures(t testing.TB) map[string]*fixture {
	t.Helper()
	files, err := filepath.Glob(golden + "/*KiB/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden sectors: %v", err)
	}
	all := map[string]*fixture{}
	for _, file := range files {
		if strings.HasSuffix(file, ".c1.json") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f := &fixture{dir: filepath.Dir(file)}
		if err := json.Unmarshal(data, f); err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = f
	}
	return all
}

func unhex(t testing.TB, s string) (b [32]byte) {
	t.Helper()
	if s == "" {
		return b
	}
	if n, err := hex.Decode(b[:], []byte(s)); err != nil || n != len(b) {
		t.Fatalf("hex %q: %v", s, err)
	}
	return b
}

// request is the fixture as a caller would send it.
func (f *fixture) request(t testing.TB) *Request {
	t.Helper()
	kind, err := filecoin.ParseKind(f.Kind)
	if err != nil {
		t.Fatal(err)
	}
	r := &Request{
		Kind: kind, SectorSize: f.Size, Miner: f.Miner, Sector: f.Sector, Randomness: unhex(t, f.Randomness),
		CommROld: unhex(t, f.CommROld), CommRNew: unhex(t, f.CommRNew), CommDNew: unhex(t, f.CommDNew),
	}
	size := filecoin.SectorSize(f.Size)
	files := f.VanillaFiles
	switch kind {
	case filecoin.PoRep:
		name := f.RegisteredProof
		if name == "" { // the plain fixtures do not name theirs
			name = "StackedDrg" + size.String() + "V1_1"
		}
		p, err := filecoin.ParseRegisteredSealProof(name)
		if err != nil {
			t.Fatal(err)
		}
		r.RegisteredProof, files = uint64(p), []string{f.C1}
	case filecoin.Update:
		p, err := filecoin.UpdateProofFor(size)
		if err != nil {
			t.Fatal(err)
		}
		r.RegisteredProof = uint64(p)
	default:
		version := filecoin.APIv1_0_0
		if strings.Contains(f.API, "1.2.0") {
			version = filecoin.APIv1_2_0
		}
		p, err := filecoin.PoStProofFor(kind, size, version)
		if err != nil {
			t.Fatal(err)
		}
		r.RegisteredProof = uint64(p)
		for _, s := range f.Sectors {
			files = append(files, s.File)
		}
	}
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(f.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		r.Vanilla = append(r.Vanilla, data)
	}
	return r
}
