package reference

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/proofmill/proofmill/internal/testparams"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/groth16"
)

const golden = "../../testdata/golden/2KiB"

// oracle is the path of the reference program.
func oracle(tb testing.TB) string {
	tb.Helper()
	path := os.Getenv("PROOFMILL_ORACLE")
	if path == "" {
		tb.Skip("set PROOFMILL_ORACLE to the reference program (make oracle builds it where its source is)")
	}
	return path
}

// fixture is what the reference wrote of one kind of proof of a sealed sector.
type fixture struct {
	Kind       string   `json:"kind"`
	Miner      uint64   `json:"miner_id"`
	Sector     uint64   `json:"sector_number"`
	Randomness string   `json:"randomness"`
	CommROld   string   `json:"comm_r_old"`
	CommRNew   string   `json:"comm_r_new"`
	CommDNew   string   `json:"comm_d_new"`
	C1         string   `json:"c1_file"`
	Vanilla    []string `json:"vanilla_files"`
	Sectors    []struct {
		File string `json:"vanilla_file"`
	} `json:"sectors"`
	Partitions []json.RawMessage `json:"partitions"`

	path string
}

func readFixture(tb testing.TB, dir, kind string) *fixture {
	tb.Helper()
	f := &fixture{path: filepath.Join(dir, kind+"-2KiB.json")}
	data, err := os.ReadFile(f.path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(data, f); err != nil {
		tb.Fatal(err)
	}
	return f
}

// request is the fixture as its caller would send it.
func (f *fixture) request(tb testing.TB) *engine.Request {
	tb.Helper()
	r := &engine.Request{Miner: f.Miner, Sector: f.Sector}
	var err error
	if r.Kind, err = filecoin.ParseKind(f.Kind); err != nil {
		tb.Fatal(err)
	}
	for text, to := range map[*string]*[32]byte{
		&f.Randomness: &r.Randomness, &f.CommROld: (*[32]byte)(&r.CommROld), &f.CommRNew: (*[32]byte)(&r.CommRNew), &f.CommDNew: (*[32]byte)(&r.CommDNew),
	} {
		if _, err := hex.Decode(to[:], []byte(*text)); err != nil {
			tb.Fatal(err)
		}
	}
	files := f.Vanilla
	switch r.Kind {
	case filecoin.PoRep:
		r.RegisteredProof, files = 5, []string{f.C1}
	case filecoin.Window:
		r.RegisteredProof = 5
	case filecoin.Winning, filecoin.Update: // the kind says it all
	}
	for _, s := range f.Sectors {
		files = append(files, s.File)
	}
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(f.path), name))
		if err != nil {
			tb.Fatal(err)
		}
		r.Vanilla = append(r.Vanilla, data)
	}
	return r
}

// setup is everything that proves a fixture.
type setup struct {
	job    *engine.Job
	sys    *engine.System
	prover *groth16.Prover
}

// newSetup opens the fixture's request and loads the key in paramsFile.
func newSetup(tb testing.TB, f *fixture, paramsFile string) *setup {
	tb.Helper()
	ctx := context.Background()
	s := &setup{}
	var err error
	if s.job, err = engine.Open(ctx, f.request(tb), engine.Options{}); err != nil {
		tb.Fatal(err)
	}
	var systems engine.Systems
	if s.sys, err = systems.Get(ctx, s.job.Circuit()); err != nil {
		tb.Fatal(err)
	}
	params, err := groth16.OpenParams(paramsFile, groth16.PolicyTest)
	if err != nil {
		tb.Fatal(err)
	}
	key, err := groth16.LoadKey(ctx, params, 0)
	if err != nil {
		tb.Fatal(err)
	}
	if err := params.Close(); err != nil {
		tb.Fatal(err)
	}
	if s.prover, err = groth16.NewProver(s.sys.System, key); err != nil {
		tb.Fatal(err)
	}
	return s
}

// prove makes the proof of partition k with fresh randomness.
func (s *setup) prove(tb testing.TB, k int) []byte {
	tb.Helper()
	w, err := s.job.Witness(context.Background(), s.sys, k)
	if err != nil {
		tb.Fatal(err)
	}
	proof, err := s.prover.Prove(context.Background(), w, groth16.ProveOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	b := proof.Bytes()
	return b[:]
}

// The reference's verifier accepts our proofs, made with our parameters and fresh randomness, and
// refuses them with a byte changed.
func TestReferenceVerifiesOurProofs(t *testing.T) {
	program := oracle(t)
	for _, kind := range []string{"winning", "window", "update", "porep"} {
		t.Run(kind, func(t *testing.T) {
			if kind == "porep" && os.Getenv("PROOFMILL_SLOW") == "" {
				t.Skip("set PROOFMILL_SLOW=1: its parameters take minutes")
			}
			f := readFixture(t, golden, kind)
			file := testparams.File(t, "2KiB/"+kind+"-2KiB")
			s := newSetup(t, f, file)
			var proof []byte
			for k := range f.Partitions {
				proof = append(proof, s.prove(t, k)...)
			}
			out, err := exec.Command(program, "verify", f.path, hex.EncodeToString(proof)).CombinedOutput()
			if err != nil {
				t.Fatalf("the reference refuses our proof: %v: %s", err, out)
			}
			proof[len(proof)-1] ^= 1
			if out, err := exec.Command(program, "verify", f.path, hex.EncodeToString(proof)).CombinedOutput(); err == nil {
				t.Fatalf("the reference accepts a changed proof: %s", out)
			}
		})
	}
}

// referenceTimes are what the reference says of one partition.
type referenceTimes struct{ witness, all time.Duration }

var timesLine = regexp.MustCompile(`-2KiB partition 0: witness (\S+), synthesis and proof (\S+), (\d+) threads`)

// runReference seals a sector and proves it by the reference program, which leaves its fixtures and
// parameter files in the directories, and prints its times.
func runReference(tb testing.TB, kind, dir string) referenceTimes {
	tb.Helper()
	cmd := exec.Command(oracle(tb), "fixtures", "2048", dir)
	cmd.Env = append(os.Environ(), "FIXTURE_KINDS="+kind, "FIXTURE_PARAMS="+dir)
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Run(); err != nil {
		tb.Fatalf("reference: %v: %s", err, out.String())
	}
	m := timesLine.FindStringSubmatch(out.String())
	if m == nil {
		tb.Fatalf("reference did not print its times: %s", out.String())
	}
	var t referenceTimes
	for i, to := range []*time.Duration{&t.witness, &t.all} {
		d, err := time.ParseDuration(m[i+1])
		if err != nil {
			tb.Fatal(fmt.Errorf("reference time: %w", err))
		}
		*to = d
	}
	return t
}
