package groth16_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/proofmill/proofmill/pkg/circuit"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/r1cs"
	"github.com/proofmill/proofmill/pkg/witness"
)

// postWitnesses are the witnesses of a PoSt fixture's partitions.
func (f *fixture) postWitnesses(t testing.TB, sys *r1cs.System) []*witness.Witness {
	t.Helper()
	kind, size := kinds[f.Kind], filecoin.SectorSize(f.SectorSize)
	registered, err := filecoin.PoStProofFor(kind, size, filecoin.APIv1_0_0)
	if err != nil {
		t.Fatal(err)
	}
	var proofs []filecoin.PoStSectorProof
	for _, s := range f.Sectors {
		b, err := os.ReadFile(golden(filepath.Join(size.String(), s.VanillaFile)))
		if err != nil {
			t.Fatal(err)
		}
		p, err := filecoin.DecodePoStSectorProof(b, registered)
		if err != nil {
			t.Fatal(err)
		}
		proofs = append(proofs, *p)
	}
	var out []*witness.Witness
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
	p, err := groth16.OpenParams(f.params(t, sys, name), groth16.PolicyTest)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close() //nolint:errcheck // only read
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
			skipSlow(t, name)
			f := readFixture(t, name)
			sys := f.system(t)
			prover := f.prover(t, sys, name)
			for i, w := range f.postWitnesses(t, sys) {
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
