package witness

import (
	"context"
	"errors"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/poseidon"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

// shape is a random layout: for each block how often it repeats and which runs its variables have.
type shape struct {
	repeat int
	runs   []r1cs.Segment
}

func drawShapes(t *rapid.T) []shape {
	shapes := make([]shape, rapid.IntRange(1, 4).Draw(t, "blocks"))
	for i := range shapes {
		shapes[i].repeat = rapid.IntRange(1, 5).Draw(t, "repeat")
		shapes[i].runs = make([]r1cs.Segment, rapid.IntRange(0, 6).Draw(t, "runs"))
		for k := range shapes[i].runs {
			run := &shapes[i].runs[k]
			switch rapid.IntRange(0, 2).Draw(t, "op") {
			case 0:
				*run = r1cs.Segment{Op: r1cs.OpBits, Count: rapid.Uint32Range(1, 200).Draw(t, "bits")}
			case 1:
				*run = r1cs.Segment{Op: r1cs.OpElements, Count: rapid.Uint32Range(1, 5).Draw(t, "elements")}
			default:
				n := poseidon.For(2).NumVariables()
				*run = r1cs.Segment{Op: r1cs.OpHash, Arity: 2, Count: uint32(n)}
			}
		}
	}
	return shapes
}

func buildSystem(shapes []shape) *r1cs.System {
	b := r1cs.NewBuilder()
	for _, s := range shapes {
		b.Block("b", s.repeat, func(cs *r1cs.CS) {
			cs.AllocInput()
			for _, run := range s.runs {
				alloc := func() {
					for range run.Count {
						if run.Op == r1cs.OpBits {
							cs.AllocBit()
						} else {
							cs.AllocElement()
						}
					}
				}
				if run.Op == r1cs.OpHash {
					cs.Expanded(run.Op, int(run.Arity), run.Tag, alloc)
				} else {
					alloc()
				}
			}
		})
	}
	return b.System()
}

func drawElement(t *rapid.T) fr.Element {
	var e fr.Element
	e.SetBytes(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "element"))
	return e
}

// fill assigns random values, one bit and one element at a time, and returns the auxiliary values
// that must come out.
func fill(t *rapid.T, w *Witness, shapes []shape) []fr.Element {
	var want []fr.Element
	for k, s := range shapes {
		for i := range s.repeat {
			err := w.Assign(k, i, func(a *r1cs.Assigner) {
				in := drawElement(t)
				a.Input(&in)
				for _, run := range s.runs {
					switch run.Op {
					case r1cs.OpBits:
						for range run.Count {
							bit := rapid.Bool().Draw(t, "bit")
							a.Bit(bit)
							var e fr.Element
							if bit {
								e.SetOne()
							}
							want = append(want, e)
						}
					case r1cs.OpElements:
						for range run.Count {
							e := drawElement(t)
							a.Element(&e)
							want = append(want, e)
						}
					default:
						pre := a.NextElements(int(run.Arity))
						for j := range pre {
							pre[j] = drawElement(t)
						}
						states := make([]fr.Element, run.Count)
						poseidon.For(int(run.Arity)).States(states, pre)
						want = append(want, states...)
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return want
}

func TestAuxEqualsWhatWasAssigned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shapes := drawShapes(t)
		w := New(buildSystem(shapes))
		want := fill(t, w, shapes)
		got, err := w.Aux(context.Background(), 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("%d values, want %d", len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("value %d is %v, want %v", i, got[i].String(), want[i].String())
			}
		}
	})
}

func TestBlobKeepsTheWitness(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shapes := drawShapes(t)
		sys := buildSystem(shapes)
		w := New(sys)
		fill(t, w, shapes)
		h := Header{Circuit: rapid.StringMatching(`[a-z0-9-]{1,40}`).Draw(t, "name"), Partition: rapid.Uint32().Draw(t, "partition")}
		copy(h.Job[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "job"))
		b, err := Encode(h, w)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) != BlobSize(sys, h.Circuit) {
			t.Fatalf("%d bytes, BlobSize says %d", len(b), BlobSize(sys, h.Circuit))
		}
		got, gotHeader, err := Decode(sys, b)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(h, gotHeader); d != "" {
			t.Fatal(d)
		}
		if d := cmp.Diff([]any{w.Inputs, w.Words, w.Elements}, []any{got.Inputs, got.Words, got.Elements}); d != "" {
			t.Fatal(d)
		}
		// Any changed byte and any other length is found.
		at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
		b[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "change"))
		if _, _, err := Decode(sys, b); err == nil {
			t.Fatalf("byte %d changed and not found", at)
		}
		b[at] ^= 0
		if _, _, err := Decode(sys, b[:rapid.IntRange(0, len(b)-1).Draw(t, "length")]); err == nil {
			t.Fatal("truncated blob was read")
		}
	})
}

func TestAssignCountsWhatIsWritten(t *testing.T) {
	sys := buildSystem([]shape{{1, []r1cs.Segment{{Op: r1cs.OpBits, Count: 3}, {Op: r1cs.OpElements, Count: 1}}}})
	one := fr.One()
	for name, assign := range map[string]func(*r1cs.Assigner){
		"too few bits":      func(a *r1cs.Assigner) { a.Bits(1, 2); a.Element(&one); a.Input(&one) },
		"too many bits":     func(a *r1cs.Assigner) { a.Bits(1, 64); a.Bits(1, 64); a.Element(&one); a.Input(&one) },
		"too few elements":  func(a *r1cs.Assigner) { a.Bits(1, 3); a.Input(&one) },
		"too many elements": func(a *r1cs.Assigner) { a.Bits(1, 3); a.NextElements(2); a.Input(&one) },
		"no input":          func(a *r1cs.Assigner) { a.Bits(1, 3); a.Element(&one) },
	} {
		if err := New(sys).Assign(0, 0, assign); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := New(sys).Assign(0, 0, func(a *r1cs.Assigner) { a.Bits(1, 3); a.Element(&one); a.Input(&one) }); err != nil {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	shapes := []shape{{2, []r1cs.Segment{{Op: r1cs.OpBits, Count: 70}, {Op: r1cs.OpElements, Count: 2}}}}
	sys := buildSystem(shapes)
	b, err := Encode(Header{Circuit: "c"}, New(sys))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:40])
	f.Fuzz(func(t *testing.T, b []byte) {
		w, h, err := Decode(sys, b)
		if err != nil {
			return
		}
		again, err := Encode(h, w)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := Decode(sys, again); errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	})
}
