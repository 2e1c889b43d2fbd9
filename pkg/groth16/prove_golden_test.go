package groth16_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/internal/testparams"
	"github.com/proofmill/proofmill/pkg/circuit"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/r1cs"
	"github.com/proofmill/proofmill/pkg/witness"
)

// witnesses are those of a fixture's partitions, from its vanilla proofs.
func (f *fixture) witnesses(t testing.TB, sys *r1cs.System) []*witness.Witness {
	t.Helper()
	switch kinds[f.Kind] {
	case filecoin.PoRep:
		return f.porepWitnesses(t, sys)
	case filecoin.Update:
		return f.updateWitnesses(t, sys)
	default:
		return f.postWitnesses(t, sys)
	}
}

func (f *fixture) file(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(golden(filepath.Join(filecoin.SectorSize(f.SectorSize).String(), name)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func node(t testing.TB, s string) filecoin.Node {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != filecoin.NodeSize {
		t.Fatalf("node %q: %v", s, err)
	}
	return filecoin.Node(b)
}

func (f *fixture) porepWitnesses(t testing.TB, sys *r1cs.System) (out []*witness.Witness) {
	t.Helper()
	c, err := filecoin.DecodeC1(f.file(t, f.C1File), filecoin.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	st := &filecoin.SealStatement{
		Proof: c.Proof, Miner: f.Miner, Sector: f.Sector, CommR: node(t, f.CommR), CommD: node(t, f.CommD),
		Ticket: node(t, f.Ticket), Seed: node(t, f.Seed),
	}
	for k := range f.Partitions {
		w, err := circuit.AssignPoRep(t.Context(), sys, st, k, c.Partitions[k], 0)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

func (f *fixture) updateWitnesses(t testing.TB, sys *r1cs.System) (out []*witness.Witness) {
	t.Helper()
	registered, err := filecoin.UpdateProofFor(filecoin.SectorSize(f.SectorSize))
	if err != nil {
		t.Fatal(err)
	}
	st := &filecoin.UpdateStatement{
		Proof: registered, CommROld: node(t, f.CommROld), CommRNew: node(t, f.CommRNew), CommDNew: node(t, f.CommDNew),
	}
	for k := range f.Partitions {
		p, err := filecoin.DecodeUpdateProof(f.file(t, f.VanillaFiles[k]), registered)
		if err != nil {
			t.Fatal(err)
		}
		w, err := circuit.AssignUpdate(t.Context(), sys, st, k, p, 0)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

func (f *fixture) postWitnesses(t testing.TB, sys *r1cs.System) (out []*witness.Witness) {
	t.Helper()
	kind, size := kinds[f.Kind], filecoin.SectorSize(f.SectorSize)
	registered, err := filecoin.PoStProofFor(kind, size, filecoin.APIv1_0_0)
	if err != nil {
		t.Fatal(err)
	}
	var proofs []filecoin.PoStSectorProof
	for _, s := range f.Sectors {
		p, err := filecoin.DecodePoStSectorProof(f.file(t, s.VanillaFile), registered)
		if err != nil {
			t.Fatal(err)
		}
		proofs = append(proofs, *p)
	}
	for i := range f.Partitions {
		sectors := proofs
		if kind == filecoin.Window {
			n := size.WindowSectors()
			sectors = proofs[i*n : min((i+1)*n, len(proofs))]
		}
		w, err := circuit.AssignPoSt(t.Context(), kind, size, sys, sectors, 0)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

// prover makes a prover with the fixture's parameters.
func (f *fixture) prover(t testing.TB, sys *r1cs.System, name string) *groth16.Prover {
	t.Helper()
	p, err := groth16.OpenParams(testparams.File(t, name), groth16.PolicyTest)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	key, err := groth16.LoadKey(context.Background(), p, 0)
	if err != nil {
		t.Fatal(err)
	}
	prover, err := groth16.NewProver(sys, key)
	if err != nil {
		t.Fatal(err)
	}
	return prover
}

// TestProofsAreTheReferences makes the reference's proofs with its randomness.
func TestProofsAreTheReferences(t *testing.T) {
	for _, name := range proved {
		t.Run(name, func(t *testing.T) {
			skipLong(t, name)
			f := readFixture(t, name)
			sys := f.system(t)
			prover := f.prover(t, sys, name)
			for i, w := range f.witnesses(t, sys) {
				r, s := scalar(t, f.Partitions[i].R), scalar(t, f.Partitions[i].S)
				var stages []string
				proof, err := prover.Prove(t.Context(), w, groth16.ProveOptions{R: &r, S: &s, StageHook: func(s groth16.Stage) {
					stages = append(stages, s.Name)
					t.Logf("%-10s %v", s.Name, s.Duration)
				}})
				if err != nil {
					t.Fatal(err)
				}
				if got := proof.Bytes(); !bytes.Equal(got[:], f.proof(t, i)) {
					t.Errorf("partition %d: proof is %x, want %s", i, got, f.Partitions[i].Proof)
				}
				if len(stages) != 9 {
					t.Errorf("stages were %v", stages)
				}
			}
		})
	}
}

func TestProofEndsWithItsContext(t *testing.T) {
	name := "2KiB/window-2KiB"
	f := readFixture(t, name)
	sys := f.system(t)
	prover := f.prover(t, sys, name)
	w := f.witnesses(t, sys)[0]
	for _, last := range []string{
		groth16.StageExpand, groth16.StageEvaluate, groth16.StageTransforms, groth16.StageH, groth16.StageL, groth16.StageA, groth16.StageBG1,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := prover.Prove(ctx, w, groth16.ProveOptions{StageHook: func(s groth16.Stage) {
			if s.Name == last {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %s: %v", last, err)
		}
	}
}

func TestProverRefusesWhatDoesNotFit(t *testing.T) {
	name := "2KiB/window-2KiB"
	f := readFixture(t, name)
	sys := f.system(t)
	p, err := groth16.OpenParams(testparams.File(t, name), groth16.PolicyTest)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Fits(sys); err != nil {
		t.Error(err)
	}
	key, err := groth16.LoadKey(t.Context(), p, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := key.Bytes(), f.Parameters.Bytes; got > want || got < want-4096 {
		t.Errorf("key takes %d bytes, its file %d", got, want)
	}
	other := readFixture(t, "32KiB/window-32KiB").system(t)
	if err := p.Fits(other); !errors.Is(err, groth16.ErrParamsForeign) {
		t.Errorf("parameters of another circuit: %v", err)
	}
	if _, err := groth16.NewProver(other, key); !errors.Is(err, groth16.ErrParamsForeign) {
		t.Errorf("prover with a key of another circuit: %v", err)
	}
	prover, err := groth16.NewProver(sys, key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prover.Prove(t.Context(), witness.New(other), groth16.ProveOptions{}); err == nil {
		t.Error("witness of another circuit was proved")
	}
	var r fr.Element
	if _, err := prover.Prove(t.Context(), witness.New(sys), groth16.ProveOptions{R: &r}); err == nil {
		t.Error("r without s was taken")
	}
}

// BenchmarkProve proves with the fixtures' parameters; the witness is made before.
func BenchmarkProve(b *testing.B) {
	for _, name := range []string{"2KiB/window-2KiB", "2KiB/winning-2KiB", "2KiB/porep-2KiB"} {
		b.Run(name, func(b *testing.B) {
			skipLong(b, name)
			f := readFixture(b, name)
			sys := f.system(b)
			prover := f.prover(b, sys, name)
			w := f.witnesses(b, sys)[0]
			total := make(map[string]time.Duration)
			cpu := cpuTime(b)
			for b.Loop() {
				if _, err := prover.Prove(b.Context(), w, groth16.ProveOptions{StageHook: func(s groth16.Stage) {
					total[s.Name] += s.Duration
				}}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((cpuTime(b)-cpu).Seconds()/float64(b.N), "cpu-s/op")
			for stage, d := range total {
				b.ReportMetric(float64(d.Milliseconds())/float64(b.N), stage+"-ms/op")
			}
		})
	}
}

// BenchmarkSetup makes the parameters of WinningPoSt; the metric is points of G1 and G2 together.
func BenchmarkSetup(b *testing.B) {
	f := readFixture(b, "2KiB/winning-2KiB")
	sys, toxic := f.system(b), testparams.Read(b, "2KiB/winning-2KiB").Toxic
	points := 0
	cpu := cpuTime(b)
	for b.Loop() {
		res, err := groth16.Setup(b.Context(), sys, io.Discard, groth16.SetupOptions{Toxic: toxic})
		if err != nil {
			b.Fatal(err)
		}
		c := res.Counts
		points += c.H + c.L + c.A + c.BG1 + c.BG2
	}
	b.ReportMetric(float64(points)/b.Elapsed().Seconds(), "points/s")
	b.ReportMetric((cpuTime(b)-cpu).Seconds()/float64(b.N), "cpu-s/op")
}
