package circuit

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

func TestPoStCircuits(t *testing.T) {
	for _, size := range []filecoin.SectorSize{filecoin.Size2KiB, filecoin.Size16KiB, filecoin.Size32KiB, filecoin.Size8MiB} {
		for _, kind := range []filecoin.Kind{filecoin.Winning, filecoin.Window} {
			t.Run(fmt.Sprintf("%s-%s", kind, size), func(t *testing.T) { checkCircuit(t, kind, size) })
		}
	}
}

func TestWinningPoStCircuitsOfProductionSizes(t *testing.T) {
	for _, size := range []filecoin.SectorSize{filecoin.Size32GiB, filecoin.Size64GiB} {
		t.Run(size.String(), func(t *testing.T) { checkCircuit(t, filecoin.Winning, size) })
	}
}

// TestWindowPoStCircuitOfProductionSize digests 125 million constraints: minutes of processor time.
func TestWindowPoStCircuitOfProductionSize(t *testing.T) {
	if os.Getenv("PROOFMILL_SLOW") == "" {
		t.Skip("set PROOFMILL_SLOW=1 to digest the 125 million constraints of window-32GiB")
	}
	checkCircuit(t, filecoin.Window, filecoin.Size32GiB)
}

// postFixture reads a fixture and its vanilla proofs.
func postFixture(t testing.TB, kind filecoin.Kind, size filecoin.SectorSize, variant string, version filecoin.APIVersion) (fixture, []filecoin.PoStSectorProof) {
	t.Helper()
	var f fixture
	goldenJSON(t, fmt.Sprintf("%s/%s%s-%s.json", size, kind, variant, size), &f)
	registered, err := filecoin.PoStProofFor(kind, size, version)
	if err != nil {
		t.Fatal(err)
	}
	var proofs []filecoin.PoStSectorProof
	for _, s := range f.Sectors {
		p, err := filecoin.DecodePoStSectorProof(golden(t, size.String()+"/"+s.VanillaFile), registered)
		if err != nil {
			t.Fatal(err)
		}
		proofs = append(proofs, *p)
	}
	return f, proofs
}

func TestPoStWitnesses(t *testing.T) {
	for _, tc := range []struct {
		kind    filecoin.Kind
		size    filecoin.SectorSize
		variant string
		version filecoin.APIVersion
	}{
		{filecoin.Winning, filecoin.Size2KiB, "", filecoin.APIv1_0_0},
		{filecoin.Winning, filecoin.Size32KiB, "", filecoin.APIv1_0_0},
		{filecoin.Window, filecoin.Size2KiB, "", filecoin.APIv1_0_0},
		{filecoin.Window, filecoin.Size32KiB, "", filecoin.APIv1_0_0},
		{filecoin.Window, filecoin.Size2KiB, "-v1_2", filecoin.APIv1_2_0},
	} {
		t.Run(fmt.Sprintf("%s%s-%s", tc.kind, tc.variant, tc.size), func(t *testing.T) {
			f, proofs := postFixture(t, tc.kind, tc.size, tc.variant, tc.version)
			sys := build(t, tc.kind, tc.size)
			for i, partition := range f.Partitions {
				sectors := proofs
				if tc.kind == filecoin.Window {
					n := tc.size.WindowSectors()
					sectors = proofs[i*n : min((i+1)*n, len(proofs))]
				}
				w, err := AssignPoSt(t.Context(), tc.kind, tc.size, sys, sectors, 0)
				if err != nil {
					t.Fatal(err)
				}
				checkWitness(t, w, &partition.Witness)
			}
		})
	}
}

// TestPoStConstraintsHoldEachVariable changes a variable of a satisfying assignment: some constraint
// must notice.
func TestPoStConstraintsHoldEachVariable(t *testing.T) {
	_, proofs := postFixture(t, filecoin.Window, filecoin.Size32KiB, "", filecoin.APIv1_0_0)
	sys := build(t, filecoin.Window, filecoin.Size32KiB)
	w, err := AssignPoSt(t.Context(), filecoin.Window, filecoin.Size32KiB, sys, proofs[:2], 0)
	if err != nil {
		t.Fatal(err)
	}
	aux, err := w.Aux(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		values, n := aux, len(aux)
		if rapid.IntRange(0, 3).Draw(t, "input") == 0 {
			values, n = w.Inputs[1:], len(w.Inputs)-1
		}
		i := rapid.IntRange(0, n-1).Draw(t, "variable")
		kept := values[i]
		defer func() { values[i] = kept }()
		var d fr.Element
		d.SetUint64(rapid.Uint64Min(1).Draw(t, "difference"))
		values[i].Add(&values[i], &d)
		var unsatisfied *r1cs.UnsatisfiedError
		if err := sys.Satisfied(t.Context(), w.Inputs, aux); !errors.As(err, &unsatisfied) {
			t.Fatalf("variable %d was changed by %s and all constraints hold (%v)", i, d.String(), err)
		}
	})
}

// TestAssignPoStRefuses changes one part of a vanilla proof: the assignment must fail and name it.
func TestAssignPoStRefuses(t *testing.T) {
	sys := build(t, filecoin.Window, filecoin.Size2KiB)
	over := filecoin.Node{31: 0xff}
	for _, tc := range []struct {
		name   string
		change func(p []filecoin.PoStSectorProof) []filecoin.PoStSectorProof
		want   string
	}{
		{"no sector", func(p []filecoin.PoStSectorProof) []filecoin.PoStSectorProof { return nil }, "of 0 sectors"},
		{"too many sectors", func(p []filecoin.PoStSectorProof) []filecoin.PoStSectorProof { return append(p, p...) }, "of 4 sectors"},
		{"a path too few", func(p []filecoin.PoStSectorProof) []filecoin.PoStSectorProof {
			p[1].Paths = p[1].Paths[:9]
			return p
		}, "sector 11: vanilla proof has 9 challenges"},
		{"a level too few", func(p []filecoin.PoStSectorProof) []filecoin.PoStSectorProof {
			p[1].Paths[2].Elements = p[1].Paths[2].Elements[:1]
			return p
		}, "sector 11: challenge 2: path has 1 levels"},
		{"a sibling too few", func(p []filecoin.PoStSectorProof) []filecoin.PoStSectorProof {
			p[0].Paths[2].Elements[1].Siblings = p[0].Paths[2].Elements[1].Siblings[:6]
			return p
		}, "sector 10: challenge 2: level 1 of the path has 6 siblings"},
		{"a position too high", func(p []filecoin.PoStSectorProof) []filecoin.PoStSectorProof {
			p[0].Paths[0].Elements[0].Index = 8
			return p
		}, "position 8"},
		{"another position", func(p []filecoin.PoStSectorProof) []filecoin.PoStSectorProof {
			p[0].Paths[0].Elements[0].Index ^= 1
			return p
		}, "sector 10: challenge 0: the path does not lead to comm_r_last"},
		{"another leaf", func(p []filecoin.PoStSectorProof) []filecoin.PoStSectorProof {
			p[1].Paths[9].Leaf[0] ^= 1
			return p
		}, "sector 11: challenge 9: the path does not lead to comm_r_last"},
		{"a leaf above the modulus", func(p []filecoin.PoStSectorProof) []filecoin.PoStSectorProof {
			p[1].Paths[9].Leaf = over
			return p
		}, "sector 11: challenge 9: leaf"},
		{"a sibling above the modulus", func(p []filecoin.PoStSectorProof) []filecoin.PoStSectorProof {
			p[1].Paths[9].Elements[1].Siblings[3] = over
			return p
		}, "sector 11: challenge 9: level 1, sibling 3"},
		{"another comm_c", func(p []filecoin.PoStSectorProof) []filecoin.PoStSectorProof {
			p[0].CommC[0] ^= 1
			return p
		}, "sector 10: comm_r is not the hash"},
		{"a comm_r above the modulus", func(p []filecoin.PoStSectorProof) []filecoin.PoStSectorProof {
			p[0].CommR = over
			return p
		}, "sector 10: comm_r"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, proofs := postFixture(t, filecoin.Window, filecoin.Size2KiB, "", filecoin.APIv1_0_0)
			_, err := AssignPoSt(t.Context(), filecoin.Window, filecoin.Size2KiB, sys, tc.change(proofs[:2:2]), 0)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, expected one with %q", err, tc.want)
			}
		})
	}
}

func TestAssignPoStDoesNotDependOnWorkers(t *testing.T) {
	_, proofs := postFixture(t, filecoin.Winning, filecoin.Size2KiB, "", filecoin.APIv1_0_0)
	sys := build(t, filecoin.Winning, filecoin.Size2KiB)
	one, err := AssignPoSt(t.Context(), filecoin.Winning, filecoin.Size2KiB, sys, proofs, 1)
	if err != nil {
		t.Fatal(err)
	}
	many, err := AssignPoSt(t.Context(), filecoin.Winning, filecoin.Size2KiB, sys, proofs, 5)
	if err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(one.Words, many.Words) || !cmp.Equal(one.Elements, many.Elements) || !cmp.Equal(one.Inputs, many.Inputs) {
		t.Error("one worker and five make different witnesses")
	}
}

func TestBuildRefusesWhatDoesNotExist(t *testing.T) {
	if _, err := Build(filecoin.Winning, 3<<10); err == nil || !strings.Contains(err.Error(), "winning-3KiB") {
		t.Errorf("sector size 3 KiB: %v", err)
	}
	if _, err := Build(99, filecoin.Size2KiB); err == nil {
		t.Error("a kind that does not exist was built")
	}
}
