package circuit

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

func TestUpdateCircuit(t *testing.T) {
	for _, size := range []filecoin.SectorSize{filecoin.Size2KiB, filecoin.Size16KiB, filecoin.Size32KiB, filecoin.Size8MiB} {
		t.Run(size.String(), func(t *testing.T) {
			skipLargeInShort(t, size)
			checkCircuit(t, filecoin.Update, size)
		})
	}
}

// skipLargeInShort leaves the sizes of many million constraints to the full run.
func skipLargeInShort(t *testing.T, size filecoin.SectorSize) {
	t.Helper()
	if testing.Short() && size > filecoin.Size16KiB {
		t.Skip("short run")
	}
}

func TestUpdateCircuitOfProduction(t *testing.T) {
	if os.Getenv("PROOFMILL_SLOW") == "" {
		t.Skip("hashing 81 million constraints takes a minute: set PROOFMILL_SLOW=1")
	}
	checkCircuit(t, filecoin.Update, filecoin.Size32GiB)
}

// TestUpdateMemory holds the blocks to the room that a worker has for several circuits at once.
func TestUpdateMemory(t *testing.T) {
	const most = 128 << 20
	if got := build(t, filecoin.Update, filecoin.Size32GiB).Bytes(); got > most {
		t.Errorf("system takes %d bytes, want at most %d", got, most)
	}
}

// updateFixture is a sealed update of a small sector: its statement and vanilla proofs.
type updateFixture struct {
	fixture
	CommROld     string   `json:"comm_r_old"`
	CommRNew     string   `json:"comm_r_new"`
	CommDNew     string   `json:"comm_d_new"`
	VanillaFiles []string `json:"vanilla_files"`
}

// loadUpdate reads the fixture of a size.
func loadUpdate(t testing.TB, size filecoin.SectorSize) (*updateFixture, *filecoin.UpdateStatement, []*filecoin.UpdateProof) {
	t.Helper()
	dir := size.String()
	f := &updateFixture{}
	goldenJSON(t, filepath.Join(dir, "update-"+dir+".json"), f)
	number, err := filecoin.UpdateProofFor(size)
	if err != nil {
		t.Fatal(err)
	}
	st := &filecoin.UpdateStatement{
		Proof: number, CommROld: nodeOf(t, f.CommROld), CommRNew: nodeOf(t, f.CommRNew), CommDNew: nodeOf(t, f.CommDNew),
	}
	proofs := make([]*filecoin.UpdateProof, len(f.VanillaFiles))
	for k, name := range f.VanillaFiles {
		if proofs[k], err = filecoin.DecodeUpdateProof(golden(t, filepath.Join(dir, name)), number); err != nil {
			t.Fatal(err)
		}
	}
	return f, st, proofs
}

func nodeOf(t testing.TB, s string) (n filecoin.Node) {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil || copy(n[:], b) != len(n) {
		t.Fatalf("node %q: %v", s, err)
	}
	return n
}

func TestUpdateWitness(t *testing.T) {
	for _, size := range []filecoin.SectorSize{filecoin.Size2KiB, filecoin.Size32KiB} {
		t.Run(size.String(), func(t *testing.T) {
			skipLargeInShort(t, size)
			f, st, proofs := loadUpdate(t, size)
			sys := build(t, filecoin.Update, size)
			for k, proof := range proofs {
				w, err := AssignUpdate(t.Context(), sys, st, k, proof, 0)
				if err != nil {
					t.Fatal(err)
				}
				checkWitness(t, w, &f.Partitions[k].Witness)
			}
		})
	}
}

// TestUpdateRejectsChangedAssignment changes one value of a right assignment: some constraint must
// notice.
func TestUpdateRejectsChangedAssignment(t *testing.T) {
	_, st, proofs := loadUpdate(t, filecoin.Size2KiB)
	sys := build(t, filecoin.Update, filecoin.Size2KiB)
	w, err := AssignUpdate(t.Context(), sys, st, 0, proofs[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	aux, err := w.Aux(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := sys.Satisfied(t.Context(), w.Inputs, aux); err != nil {
		t.Fatal(err)
	}
	one := fr.One()
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(aux)-1).Draw(t, "variable")
		old := aux[i]
		defer func() { aux[i] = old }()
		if aux[i].IsZero() || aux[i].IsOne() { // mostly bits: the likely mistake is the other value
			aux[i].Sub(&one, &aux[i])
		} else {
			aux[i] = fr.NewElement(rapid.Uint64().Draw(t, "value"))
		}
		if aux[i] != old && holdsAround(sys, w.Inputs, aux, i) {
			t.Fatalf("variable %d may be %s and %s", i, &old, &aux[i])
		}
	})
	for i := range w.Inputs {
		old := w.Inputs[i]
		w.Inputs[i] = fr.NewElement(4711)
		if sys.Satisfied(t.Context(), w.Inputs, aux) == nil {
			t.Errorf("public input %d may be %s and %s", i, &old, &w.Inputs[i])
		}
		w.Inputs[i] = old
	}
}

// TestUpdateRejectsChangedVanillaProof changes one byte of a vanilla proof. All that the circuit does
// not read are the roots that the paths claim and the part of the data's paths in the apex tree.
func TestUpdateRejectsChangedVanillaProof(t *testing.T) {
	_, st, proofs := loadUpdate(t, filecoin.Size2KiB)
	sys := build(t, filecoin.Update, filecoin.Size2KiB)
	rapid.Check(t, func(t *rapid.T) {
		proof := cloneUpdate(proofs[0])
		node := drawNode(t, proof, newUpdateShape(filecoin.Size2KiB))
		node[rapid.IntRange(0, 31).Draw(t, "byte")] ^= rapid.ByteRange(1, 255).Draw(t, "change")
		if _, err := AssignUpdate(context.Background(), sys, st, 0, proof, 1); err == nil {
			t.Fatal("changed vanilla proof is accepted")
		}
	})
}

// drawNode picks a node of proof that the circuit reads.
func drawNode(t *rapid.T, proof *filecoin.UpdateProof, s *updateShape) *filecoin.Node {
	c := &proof.Challenges[rapid.IntRange(0, len(proof.Challenges)-1).Draw(t, "challenge")]
	sibling := func(levels []filecoin.PathElement) *filecoin.Node {
		level := &levels[rapid.IntRange(0, len(levels)-1).Draw(t, "level")]
		return &level.Siblings[rapid.IntRange(0, len(level.Siblings)-1).Draw(t, "sibling")]
	}
	switch rapid.SampledFrom([]string{"comm_c", "apex", "leaf r old", "leaf d", "leaf r new", "r old", "d", "r new"}).Draw(t, "part") {
	case "comm_c":
		return &proof.CommC
	case "apex":
		return &proof.ApexLeaves[rapid.IntRange(0, len(proof.ApexLeaves)-1).Draw(t, "leaf")]
	case "leaf r old":
		return &c.ROld.Leaf
	case "leaf d":
		return &c.DNew.Leaf
	case "leaf r new":
		return &c.RNew.Leaf
	case "r old":
		return sibling(c.ROld.Elements)
	case "d":
		return sibling(c.DNew.Elements[:s.pathLevels])
	default:
		return sibling(c.RNew.Elements)
	}
}

func cloneUpdate(p *filecoin.UpdateProof) *filecoin.UpdateProof {
	out := &filecoin.UpdateProof{
		CommC:      p.CommC,
		ApexLeaves: append([]filecoin.Node(nil), p.ApexLeaves...),
		Challenges: append([]filecoin.UpdateChallenge(nil), p.Challenges...),
	}
	for i := range out.Challenges {
		c := &out.Challenges[i]
		for _, path := range []*filecoin.MerklePath{&c.ROld, &c.DNew, &c.RNew} {
			path.Elements = append([]filecoin.PathElement(nil), path.Elements...)
			for j := range path.Elements {
				path.Elements[j].Siblings = append([]filecoin.Node(nil), path.Elements[j].Siblings...)
			}
		}
	}
	return out
}

// TestUpdateChecksShape hands over vanilla proofs of the wrong shape, and one of another partition.
func TestUpdateChecksShape(t *testing.T) {
	_, st, proofs := loadUpdate(t, filecoin.Size32KiB)
	sys := build(t, filecoin.Update, filecoin.Size32KiB)
	for name, change := range map[string]func(p *filecoin.UpdateProof){
		"no challenges":   func(p *filecoin.UpdateProof) { p.Challenges = nil },
		"apex leaf short": func(p *filecoin.UpdateProof) { p.ApexLeaves = p.ApexLeaves[1:] },
		"level short":     func(p *filecoin.UpdateProof) { p.Challenges[3].RNew.Elements = p.Challenges[3].RNew.Elements[1:] },
		"sibling short":   func(p *filecoin.UpdateProof) { p.Challenges[3].DNew.Elements[2].Siblings = nil },
		"position":        func(p *filecoin.UpdateProof) { p.Challenges[3].ROld.Elements[0].Index ^= 1 },
		"beyond arity":    func(p *filecoin.UpdateProof) { p.Challenges[3].ROld.Elements[0].Index = 8 },
		"not an element":  func(p *filecoin.UpdateProof) { p.Challenges[3].ROld.Leaf = filecoin.Node{31: 0xff} },
	} {
		t.Run(name, func(t *testing.T) {
			proof := cloneUpdate(proofs[0])
			change(proof)
			if _, err := AssignUpdate(t.Context(), sys, st, 0, proof, 0); err == nil {
				t.Error("accepted")
			} else {
				t.Log(err)
			}
		})
	}
	if _, err := AssignUpdate(t.Context(), sys, st, 1, proofs[0], 0); err == nil {
		t.Error("vanilla proof of partition 0 is accepted as that of partition 1")
	}
	if _, err := AssignUpdate(t.Context(), sys, st, 2, proofs[0], 0); err == nil {
		t.Error("partition 2 of 2 is accepted")
	}
	for _, other := range []*r1cs.System{build(t, filecoin.Update, filecoin.Size2KiB), build(t, filecoin.Winning, filecoin.Size32KiB)} {
		if _, err := AssignUpdate(t.Context(), other, st, 0, proofs[0], 0); err == nil {
			t.Error("another circuit is accepted")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := AssignUpdate(ctx, sys, st, 0, proofs[0], 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled assignment returns %v", err)
	}
}

func BenchmarkUpdateWitness(b *testing.B) {
	_, st, proofs := loadUpdate(b, filecoin.Size2KiB)
	sys := build(b, filecoin.Update, filecoin.Size2KiB)
	for _, workers := range []int{1, 2} {
		b.Run(map[int]string{1: "one worker", 2: "two workers"}[workers], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := AssignUpdate(b.Context(), sys, st, 0, proofs[0], workers); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("expansion", func(b *testing.B) {
		w, err := AssignUpdate(b.Context(), sys, st, 0, proofs[0], 0)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := w.Aux(b.Context(), 0); err != nil {
				b.Fatal(err)
			}
		}
	})
}
