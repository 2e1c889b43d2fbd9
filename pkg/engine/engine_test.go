package engine

import (
	"context"
	"encoding/hex"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/witness"
)

var testOptions = Options{TestProofs: true}

// Every golden sector opens, holds, and gives the reference's public inputs and witness, opened as a
// whole and partition by partition.
func TestGoldenSectors(t *testing.T) {
	var systems Systems
	ctx := context.Background()
	for name, f := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			r := f.request(t)
			whole, err := Open(ctx, r, testOptions)
			if err != nil {
				t.Fatal(err)
			}
			if whole.Partitions() != len(f.Partitions) {
				t.Fatalf("%d partitions, want %d", whole.Partitions(), len(f.Partitions))
			}
			sys, err := systems.Get(ctx, whole.Circuit())
			if err != nil {
				t.Fatal(err)
			}
			for k, p := range f.Partitions {
				part := *r
				from, to := whole.PartitionInputs(k)
				part.Vanilla = r.Vanilla[from:to]
				one, err := OpenPartition(ctx, &part, testOptions, k)
				if err != nil {
					t.Fatal(err)
				}
				for _, j := range []*Job{whole, one} {
					if err := j.Check(ctx, k); err != nil {
						t.Fatal(err)
					}
					inputs, err := j.PublicInputs(k)
					if err != nil {
						t.Fatal(err)
					}
					if d := cmp.Diff(p.Witness.Inputs[1:], witness.DigestOf(inputs, nil).Inputs); d != "" {
						t.Fatalf("partition %d: public inputs: %s", k, d)
					}
				}
				if k > 1 { // the circuits' own tests look at every partition
					continue
				}
				w, err := one.Witness(ctx, sys, k)
				if err != nil {
					t.Fatal(err)
				}
				aux, err := w.Aux(ctx, 0)
				if err != nil {
					t.Fatal(err)
				}
				if got := witness.DigestOf(w.Inputs, aux); got.Aux != p.Witness.Aux {
					t.Fatalf("partition %d: witness digest %s, want %s", k, got.Aux, p.Witness.Aux)
				}
			}
		})
	}
}

// The golden proofs hold for what is derived from the requests, and not for another partition's or
// with a changed byte; the error names the partition.
func TestGoldenProofsVerify(t *testing.T) {
	for name, f := range fixtures(t) {
		if f.Parameters.VK == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			vk, err := groth16.OpenVerifyingKey(filepath.Join(f.dir, f.Parameters.VK))
			if err != nil {
				t.Fatal(err)
			}
			prepared, err := groth16.Prepare(vk)
			if err != nil {
				t.Fatal(err)
			}
			j, err := Open(context.Background(), f.request(t), testOptions)
			if err != nil {
				t.Fatal(err)
			}
			var result []byte
			for _, p := range f.Partitions {
				b, err := hex.DecodeString(p.Proof)
				if err != nil {
					t.Fatal(err)
				}
				result = append(result, b...)
			}
			if err := j.VerifyResult(prepared, result); err != nil {
				t.Fatal(err)
			}
			if err := j.VerifyResult(prepared, result[1:]); err == nil {
				t.Fatal("a truncated result holds")
			}
			if len(f.Partitions) < 2 {
				return
			}
			copy(result[groth16.ProofBytes:], result[:groth16.ProofBytes])
			var rejected *RejectedError
			if err := j.VerifyResult(prepared, result); !errors.As(err, &rejected) || !cmp.Equal(rejected.Partitions, []int{1}) {
				t.Fatalf("the first partition's proof in place of the second's: %v", err)
			}
		})
	}
}

// What can never be proved is refused while it is opened or checked, each with an error of its class.
func TestRefusals(t *testing.T) {
	all := fixtures(t)
	ctx := context.Background()
	for _, c := range []struct {
		name    string
		fixture string
		change  func(r *Request)
		want    error
	}{
		{"kind without circuits", "winning-2KiB", func(r *Request) { r.Kind = 77 }, ErrUnknownProof},
		{"unknown seal proof", "porep-2KiB", func(r *Request) { r.RegisteredProof = 20 }, ErrUnknownProof},
		{"window number for winning", "winning-2KiB", func(r *Request) { r.RegisteredProof = 5 }, ErrUnknownProof},
		{"contradictory size", "porep-2KiB", func(r *Request) { r.SectorSize = 32 << 30 }, ErrSize},
		{"C1 of another variant", "porep-2KiB", func(r *Request) { r.RegisteredProof = 0 }, nil},
		{"another miner", "porep-2KiB", func(r *Request) { r.Miner++ }, nil},
		{"another sector", "porep-2KiB", func(r *Request) { r.Sector++ }, nil},
		{"no input", "winning-2KiB", func(r *Request) { r.Vanilla = nil }, filecoin.ErrMalformed},
		{"no input", "porep-2KiB", func(r *Request) { r.Vanilla = nil }, filecoin.ErrMalformed},
		{"too many inputs", "update-2KiB", func(r *Request) { r.Vanilla = append(r.Vanilla, r.Vanilla[0]) }, filecoin.ErrMalformed},
		{"truncated", "window-2KiB", func(r *Request) { r.Vanilla[1] = r.Vanilla[1][:100] }, filecoin.ErrMalformed},
		{"bincode for JSON", "porep-2KiB", func(r *Request) { r.Vanilla[0] = []byte{1, 0, 0, 0} }, filecoin.ErrMalformed},
		{"JSON for bincode", "update-2KiB", func(r *Request) { r.Vanilla[0] = []byte(`{"a":1}`) }, filecoin.ErrMalformed},
		{"commitment that is no field element", "update-2KiB", func(r *Request) { r.CommRNew[31] = 0xff }, filecoin.ErrStatement},
	} {
		t.Run(c.name+" "+c.fixture, func(t *testing.T) {
			r := all[c.fixture].request(t)
			c.change(r)
			_, err := Open(ctx, r, testOptions)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
		})
	}
	if _, err := Open(ctx, all["winning-32KiB"].request(t), Options{}); !errors.Is(err, ErrTestProof) {
		t.Errorf("a test-only circuit where none is allowed: %v", err)
	}
}

// One wrong byte anywhere in a vanilla proof is found before any proving: it does not decode, or the
// check names the sector.
func TestChangedByteIsFound(t *testing.T) {
	all := fixtures(t)
	for _, name := range []string{"winning-2KiB", "window-2KiB", "update-2KiB"} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				r := all[name].request(t)
				i := rapid.IntRange(0, len(r.Vanilla)-1).Draw(rt, "input")
				at := rapid.IntRange(0, len(r.Vanilla[i])-1).Draw(rt, "at")
				r.Vanilla[i][at] ^= byte(rapid.IntRange(1, 255).Draw(rt, "change"))
				j, err := Open(context.Background(), r, testOptions)
				for k := 0; err == nil && k < j.Partitions(); k++ {
					err = j.Check(context.Background(), k)
				}
				if err == nil {
					rt.Fatal("the change was not found")
				}
			})
		})
	}
}

// Match and Witness together find what Check finds, with its error.
func TestChangedByteIsFoundOnTheWay(t *testing.T) {
	all := fixtures(t)
	ctx := context.Background()
	for _, name := range []string{"winning-2KiB", "window-2KiB", "update-2KiB"} {
		t.Run(name, func(t *testing.T) {
			c, err := all[name].request(t).Circuit(testOptions)
			if err != nil {
				t.Fatal(err)
			}
			var systems Systems
			sys, err := systems.Get(ctx, c)
			if err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(rt *rapid.T) {
				r := all[name].request(t)
				i := rapid.IntRange(0, len(r.Vanilla)-1).Draw(rt, "input")
				at := rapid.IntRange(0, len(r.Vanilla[i])-1).Draw(rt, "at")
				r.Vanilla[i][at] ^= byte(rapid.IntRange(1, 255).Draw(rt, "change"))
				j, err := Open(ctx, r, testOptions)
				if err != nil {
					return
				}
				var full, onTheWay error
				for k := 0; full == nil && k < j.Partitions(); k++ {
					full = j.Check(ctx, k)
				}
				for k := 0; onTheWay == nil && k < j.Partitions(); k++ {
					if onTheWay = j.Match(ctx, k); onTheWay == nil {
						_, onTheWay = j.Witness(ctx, sys, k)
					}
				}
				var check *filecoin.CheckError
				if full == nil || !errors.As(onTheWay, &check) {
					rt.Fatalf("check says %v, match and witness %v", full, onTheWay)
				}
			})
		})
	}
}

func TestCircuitIDs(t *testing.T) {
	for _, c := range Circuits() {
		got, err := ParseCircuit(c.ID())
		if err != nil || got != c {
			t.Errorf("%s: %v, %v", c.ID(), got, err)
		}
	}
	if c := (Circuit{filecoin.PoRep, filecoin.Size32GiB}); c.ID() != "porep-32g" {
		t.Errorf("%s", c.ID())
	}
	if _, err := ParseCircuit("porep-3g"); err == nil {
		t.Error("porep-3g is a circuit")
	}
}
