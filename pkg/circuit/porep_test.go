package circuit

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/filecoin"
)

func TestPoRepCircuits(t *testing.T) {
	for _, size := range []filecoin.SectorSize{filecoin.Size2KiB, filecoin.Size16KiB, filecoin.Size32KiB, filecoin.Size8MiB} {
		t.Run(size.String(), func(t *testing.T) { checkCircuit(t, filecoin.PoRep, size) })
	}
}

// TestPoRepCircuitsOfProductionSizes digests 130 million constraints each: a minute of processor time.
func TestPoRepCircuitsOfProductionSizes(t *testing.T) {
	if os.Getenv("PROOFMILL_SLOW") == "" {
		t.Skip("set PROOFMILL_SLOW=1 to digest the 130 million constraints each of porep-32GiB and porep-64GiB")
	}
	for _, size := range []filecoin.SectorSize{filecoin.Size32GiB, filecoin.Size64GiB} {
		t.Run(size.String(), func(t *testing.T) { checkCircuit(t, filecoin.PoRep, size) })
	}
}

// porepFixture reads a fixture: its record, its statement, and the vanilla proofs.
func porepFixture(t testing.TB, size filecoin.SectorSize, variant string) (fixture, *filecoin.SealStatement, [][]filecoin.PoRepChallenge) {
	t.Helper()
	var f struct {
		fixture
		Miner  uint64 `json:"miner_id"`
		Sector uint64 `json:"sector_number"`
		CommR  string `json:"comm_r"`
		CommD  string `json:"comm_d"`
		Ticket string `json:"ticket"`
		Seed   string `json:"seed"`
	}
	name := fmt.Sprintf("%s/porep%s-%s", size, variant, size)
	goldenJSON(t, name+".json", &f)
	c, err := filecoin.DecodeC1(golden(t, name+".c1.json"), filecoin.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	node := func(s string) filecoin.Node {
		b, err := hex.DecodeString(s)
		if err != nil || len(b) != filecoin.NodeSize {
			t.Fatalf("%s: %q is not 32 bytes", name, s)
		}
		return filecoin.Node(b)
	}
	return f.fixture, &filecoin.SealStatement{
		Proof: c.Proof, Miner: f.Miner, Sector: f.Sector,
		CommR: node(f.CommR), CommD: node(f.CommD), Ticket: node(f.Ticket), Seed: node(f.Seed),
	}, c.Partitions
}

func TestPoRepWitnesses(t *testing.T) {
	for _, tc := range []struct {
		size    filecoin.SectorSize
		variant string
	}{
		{filecoin.Size2KiB, ""},
		{filecoin.Size2KiB, "-v1"},
		{filecoin.Size2KiB, "-synthetic"},
		{filecoin.Size2KiB, "-ni"},
		{filecoin.Size32KiB, ""},
	} {
		t.Run(tc.size.String()+tc.variant, func(t *testing.T) {
			f, st, partitions := porepFixture(t, tc.size, tc.variant)
			sys := build(t, filecoin.PoRep, tc.size)
			if len(f.Partitions) != len(partitions) {
				t.Fatalf("C1 output of %d partitions, witnesses of %d", len(partitions), len(f.Partitions))
			}
			for k := range f.Partitions {
				w, err := AssignPoRep(t.Context(), sys, st, k, partitions[k], 0)
				if err != nil {
					t.Fatal(err)
				}
				checkWitness(t, w, &f.Partitions[k].Witness)
			}
		})
	}
}

// TestPoRepConstraintsHoldEachVariable changes a variable of a satisfying assignment: some constraint
// must notice.
func TestPoRepConstraintsHoldEachVariable(t *testing.T) {
	_, st, partitions := porepFixture(t, filecoin.Size2KiB, "")
	sys := build(t, filecoin.PoRep, filecoin.Size2KiB)
	w, err := AssignPoRep(t.Context(), sys, st, 0, partitions[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	aux, err := w.Aux(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(aux)-1).Draw(t, "variable")
		kept := aux[i]
		defer func() { aux[i] = kept }()
		var d fr.Element
		d.SetUint64(rapid.Uint64Min(1).Draw(t, "difference"))
		aux[i].Add(&aux[i], &d)
		if holdsAround(sys, w.Inputs, aux, i) {
			t.Fatalf("variable %d was changed by %s and all constraints hold", i, d.String())
		}
	})
}

// TestAssignPoRepRefuses changes one part of a vanilla proof: the assignment must fail and name it.
func TestAssignPoRepRefuses(t *testing.T) {
	sys := build(t, filecoin.PoRep, filecoin.Size2KiB)
	over := filecoin.Node{31: 0xff}
	type challenges = []filecoin.PoRepChallenge
	for _, tc := range []struct {
		name   string
		change func(p challenges) challenges
		want   string
	}{
		{"a challenge too few", func(p challenges) challenges { return p[:1] }, "vanilla proof has 1 challenges"},
		{"no challenge", func(challenges) challenges { return nil }, "vanilla proof has 0 challenges"},
		{"another data leaf", func(p challenges) challenges {
			p[1].CommD.Leaf[0] ^= 1
			return p
		}, "challenge 1: comm_d path: the path does not lead to the root"},
		{"a data leaf above the modulus", func(p challenges) challenges {
			p[1].CommD.Leaf = over
			return p
		}, "challenge 1: comm_d path: leaf"},
		{"a level of tree D too few", func(p challenges) challenges {
			p[0].CommD.Elements = p[0].CommD.Elements[:5]
			return p
		}, "challenge 0: comm_d path: path has 5 levels"},
		{"a position in tree D too high", func(p challenges) challenges {
			p[0].CommD.Elements[3].Index = 2
			return p
		}, "challenge 0: comm_d path: level 3"},
		{"a sibling in tree D above the modulus", func(p challenges) challenges {
			p[0].CommD.Elements[2].Siblings[0] = over
			return p
		}, "challenge 0: comm_d path: level 2"},
		{"a DRG parent too few", func(p challenges) challenges {
			p[1].DRGParents = p[1].DRGParents[:5]
			return p
		}, "challenge 1: 5 DRG and 8 expander parents"},
		{"a row too few", func(p challenges) challenges {
			p[1].DRGParents[4].Rows = p[1].DRGParents[4].Rows[:1]
			return p
		}, "challenge 1: DRG parent 4: column has 1 rows"},
		{"another row", func(p challenges) challenges {
			p[1].ExpParents[7].Rows[1][3] ^= 1
			return p
		}, "challenge 1: expander parent 7: the path does not lead to the root"},
		{"a row above the modulus", func(p challenges) challenges {
			p[1].ExpParents[7].Rows[1] = over
			return p
		}, "challenge 1: expander parent 7: row 1"},
		{"another node", func(p challenges) challenges {
			p[0].Challenge++
			return p
		}, "challenge 0: comm_r_last path of the encoded node: the path does not lead to the root"},
		{"another comm_c path", func(p challenges) challenges {
			p[1].CX.Path.Elements[0].Siblings[1][2] ^= 4
			return p
		}, "challenge 1: comm_c path of the recomputed labels: the path does not lead to the root"},
		{"another comm_c", func(p challenges) challenges {
			p[0].CX.Path.Root[0] ^= 1
			return p
		}, "comm_r is not the hash of comm_c and comm_r_last"},
		{"comm_r_last above the modulus", func(p challenges) challenges {
			p[0].CommRLast.Root = over
			return p
		}, "comm_r_last: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, st, partitions := porepFixture(t, filecoin.Size2KiB, "")
			_, err := AssignPoRep(t.Context(), sys, st, 0, tc.change(partitions[0]), 1)
			if err == nil || !strings.HasPrefix(err.Error(), "porep partition 0: ") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, expected one with %q", err, tc.want)
			}
		})
	}
	t.Run("another statement", func(t *testing.T) {
		_, st, partitions := porepFixture(t, filecoin.Size2KiB, "")
		st.Sector++
		if _, err := AssignPoRep(t.Context(), sys, st, 0, partitions[0], 1); err == nil {
			t.Error("labels of another replica id were accepted")
		}
	})
}

func TestAssignPoRepDoesNotDependOnWorkers(t *testing.T) {
	_, st, partitions := porepFixture(t, filecoin.Size2KiB, "")
	sys := build(t, filecoin.PoRep, filecoin.Size2KiB)
	one, err := AssignPoRep(t.Context(), sys, st, 0, partitions[0], 1)
	if err != nil {
		t.Fatal(err)
	}
	many, err := AssignPoRep(t.Context(), sys, st, 0, partitions[0], 5)
	if err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(one.Words, many.Words) || !cmp.Equal(one.Elements, many.Elements) || !cmp.Equal(one.Inputs, many.Inputs) {
		t.Error("one worker and five make different witnesses")
	}
}

func TestAssignPoRepEndsWithItsContext(t *testing.T) {
	_, st, partitions := porepFixture(t, filecoin.Size2KiB, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := AssignPoRep(ctx, build(t, filecoin.PoRep, filecoin.Size2KiB), st, 0, partitions[0], 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
