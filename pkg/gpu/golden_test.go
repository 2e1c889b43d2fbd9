package gpu

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/circuit"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/r1cs"
	"github.com/proofmill/proofmill/pkg/witness"
)

// fixture is the part of a golden file that a proof needs.
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
		Bytes  int64             `json:"params_bytes"`
		SHA256 string            `json:"params_sha256"`
		Toxic  map[string]string `json:"toxic_waste"`
	} `json:"parameters"`
	VanillaFiles []string `json:"vanilla_files"`
	Sectors      []struct {
		VanillaFile string `json:"vanilla_file"`
	} `json:"sectors"`
	Partitions []struct {
		Proof string `json:"proof"`
		R     string `json:"r"`
		S     string `json:"s"`
	} `json:"partitions"`
}

var kinds = map[string]filecoin.Kind{
	"winning": filecoin.Winning, "window": filecoin.Window, "porep": filecoin.PoRep, "update": filecoin.Update,
}

// goldenRoot is the folder of the golden files; a test program that was carried elsewhere finds it through PROOFMILL_TESTDATA.
func goldenRoot() string {
	if dir := os.Getenv("PROOFMILL_TESTDATA"); dir != "" {
		return filepath.Join(dir, "golden")
	}
	return filepath.Join("..", "..", "testdata", "golden")
}

func (f *fixture) file(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(goldenRoot(), filecoin.SectorSize(f.SectorSize).String(), name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func readFixture(t testing.TB, name string) *fixture {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(goldenRoot(), name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	f := new(fixture)
	if err := json.Unmarshal(b, f); err != nil {
		t.Fatal(err)
	}
	return f
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

func node(t testing.TB, s string) filecoin.Node {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != filecoin.NodeSize {
		t.Fatalf("node %q: %v", s, err)
	}
	return filecoin.Node(b)
}

// witnesses are those of a fixture's partitions, from its vanilla proofs.
func (f *fixture) witnesses(t testing.TB, sys *r1cs.System) (out []*witness.Witness) {
	t.Helper()
	for k := range f.Partitions {
		var w *witness.Witness
		var err error
		switch kind := kinds[f.Kind]; kind {
		case filecoin.PoRep:
			w, err = f.porep(t, sys, k)
		case filecoin.Update:
			w, err = f.update(t, sys, k)
		default:
			w, err = f.post(t, sys, kind, k)
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

func (f *fixture) porep(t testing.TB, sys *r1cs.System, k int) (*witness.Witness, error) {
	t.Helper()
	c, err := filecoin.DecodeC1(f.file(t, f.C1File), filecoin.Limits{})
	if err != nil {
		return nil, err
	}
	return circuit.AssignPoRep(t.Context(), sys, &filecoin.SealStatement{
		Proof: c.Proof, Miner: f.Miner, Sector: f.Sector, CommR: node(t, f.CommR), CommD: node(t, f.CommD),
		Ticket: node(t, f.Ticket), Seed: node(t, f.Seed),
	}, k, c.Partitions[k], 0)
}

func (f *fixture) update(t testing.TB, sys *r1cs.System, k int) (*witness.Witness, error) {
	t.Helper()
	registered, err := filecoin.UpdateProofFor(filecoin.SectorSize(f.SectorSize))
	if err != nil {
		return nil, err
	}
	p, err := filecoin.DecodeUpdateProof(f.file(t, f.VanillaFiles[k]), registered)
	if err != nil {
		return nil, err
	}
	return circuit.AssignUpdate(t.Context(), sys, &filecoin.UpdateStatement{
		Proof: registered, CommROld: node(t, f.CommROld), CommRNew: node(t, f.CommRNew), CommDNew: node(t, f.CommDNew),
	}, k, p, 0)
}

func (f *fixture) post(t testing.TB, sys *r1cs.System, kind filecoin.Kind, k int) (*witness.Witness, error) {
	t.Helper()
	size := filecoin.SectorSize(f.SectorSize)
	registered, err := filecoin.PoStProofFor(kind, size, filecoin.APIv1_0_0)
	if err != nil {
		return nil, err
	}
	var proofs []filecoin.PoStSectorProof
	for _, s := range f.Sectors {
		p, err := filecoin.DecodePoStSectorProof(f.file(t, s.VanillaFile), registered)
		if err != nil {
			return nil, err
		}
		proofs = append(proofs, *p)
	}
	if kind == filecoin.Window {
		n := size.WindowSectors()
		proofs = proofs[k*n : min((k+1)*n, len(proofs))]
	}
	return circuit.AssignPoSt(t.Context(), kind, size, sys, proofs, 0)
}

// params makes the fixture's parameters, or takes those of an earlier run where the environment names a folder for them.
func (f *fixture) params(t testing.TB, sys *r1cs.System, name string) *groth16.Params {
	t.Helper()
	dir := os.Getenv("PROOFMILL_TEST_PARAMS")
	if dir == "" {
		dir = t.TempDir()
	}
	path := filepath.Join(dir, filepath.Base(name)+".params")
	m, err := groth16.ReadMarker(path)
	if err != nil || m == nil || m.Digests.SHA256 != f.Parameters.SHA256 {
		w := f.Parameters.Toxic
		toxic := &groth16.Toxic{
			Alpha: scalar(t, w["alpha"]), Beta: scalar(t, w["beta"]), Gamma: scalar(t, w["gamma"]),
			Delta: scalar(t, w["delta"]), Tau: scalar(t, w["tau"]),
		}
		if _, err := groth16.SetupFile(t.Context(), sys, path, groth16.SetupOptions{Toxic: toxic, Circuit: filepath.Base(name)}); err != nil {
			t.Fatal(err)
		}
	}
	p, err := groth16.OpenParams(path, groth16.PolicyTest)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// goldenScratch is enough for the circuits of the fixtures.
const goldenScratch = 2 << 30

// TestProofsAreTheReferences makes the reference's proofs with its randomness, several at once.
func TestProofsAreTheReferences(t *testing.T) {
	for _, name := range []string{
		"2KiB/window-2KiB", "2KiB/winning-2KiB", "32KiB/window-32KiB", "32KiB/winning-32KiB", "2KiB/update-2KiB", "2KiB/porep-2KiB",
	} {
		t.Run(name, func(t *testing.T) {
			f := readFixture(t, name)
			switch kind := kinds[f.Kind]; {
			case (kind == filecoin.PoRep || kind == filecoin.Update) && os.Getenv("PROOFMILL_SLOW") == "":
				t.Skip("parameters of this circuit take minutes; set PROOFMILL_SLOW=1 to run")
			case testing.Short() && name != "2KiB/window-2KiB":
				t.Skip("parameters of this circuit take seconds; run without -short")
			}
			proveFixture(t, f, name)
		})
	}
}

func proveFixture(t *testing.T, f *fixture, name string) {
	t.Helper()
	d := testDevice(t)
	again := 2 // proofs of each partition, at once
	if d.Info().Compute[0] == 0 {
		if f.SectorSize > 2<<10 && os.Getenv("PROOFMILL_SLOW") == "" {
			t.Skip("proofs of this circuit take a minute on the host; set PROOFMILL_SLOW=1 to run")
		}
		again = 1
	}
	sys, err := circuit.Build(kinds[f.Kind], filecoin.SectorSize(f.SectorSize))
	if err != nil {
		t.Fatal(err)
	}
	params := f.params(t, sys, name)
	witnesses := f.witnesses(t, sys)
	each := []int{1, 4}
	if d.Info().Compute[0] == 0 { // the host takes its time: one circuit with copies, the others without
		each = each[:1]
		if name == "2KiB/window-2KiB" {
			each[0] = 4
		}
	}
	for _, copies := range each {
		t.Run(fmt.Sprintf("%d copies", copies), func(t *testing.T) {
			p := testProver(t, d, sys, params, KeyOptions{Copies: copies, Prover: ProverOptions{InFlight: 2, ScratchBytes: goldenScratch}})
			f.compareProofs(t, p, witnesses, again)
		})
	}
}

// compareProofs makes the proofs of a fixture's partitions at once, each several times.
func (f *fixture) compareProofs(t *testing.T, p *Prover, witnesses []*witness.Witness, again int) {
	t.Helper()
	var wg sync.WaitGroup
	for k := range again * len(witnesses) {
		wg.Go(func() {
			k := k % len(witnesses)
			r, s := scalar(t, f.Partitions[k].R), scalar(t, f.Partitions[k].S)
			start := time.Now()
			proof, err := p.Prove(t.Context(), witnesses[k], ProveOptions{R: &r, S: &s, StageHook: func(s groth16.Stage) {
				t.Logf("%-10s %v", s.Name, s.Duration)
			}})
			if err != nil {
				t.Error(err)
				return
			}
			t.Logf("partition %d in %v", k, time.Since(start))
			want, err := hex.DecodeString(f.Partitions[k].Proof)
			if got := proof.Bytes(); err != nil || !bytes.Equal(got[:], want) {
				t.Errorf("partition %d: proof is %x, want %s", k, got, f.Partitions[k].Proof)
			}
		})
	}
	wg.Wait()
}
