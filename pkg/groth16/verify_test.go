package groth16_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/groth16"
)

func TestVerifyingKeyBytes(t *testing.T) {
	for _, name := range proved {
		t.Run(name, func(t *testing.T) {
			f := readFixture(t, name)
			b, vk := f.key(t, name)
			sum := sha256.Sum256(b)
			if got := hex.EncodeToString(sum[:]); got != f.Parameters.VKSHA256 {
				t.Fatalf("fixture's key has digest %s, its description says %s", got, f.Parameters.VKSHA256)
			}
			if len(vk.IC) != f.Parameters.IC {
				t.Errorf("key has %d inputs, want %d", len(vk.IC), f.Parameters.IC)
			}
			if !bytes.Equal(vk.Bytes(), b) {
				t.Error("key is written with other bytes than it was read from")
			}
			var w bytes.Buffer
			if n, err := vk.WriteTo(&w); err != nil || n != int64(len(b)) || !bytes.Equal(w.Bytes(), b) {
				t.Errorf("WriteTo wrote %d bytes, error %v, want %d", n, err, len(b))
			}
			// The reader stops where the key ends.
			again, err := groth16.ReadVerifyingKey(bytes.NewReader(append(slices.Clone(b), "more"...)))
			if err != nil || !again.Equal(vk) {
				t.Errorf("key before other data: %v", err)
			}
			if _, err := groth16.ParseVerifyingKey(append(slices.Clone(b), 0)); err == nil {
				t.Error("key with a byte after it was accepted")
			}
		})
	}
}

func TestVerifyingKeyRefusesDamage(t *testing.T) {
	name := "2KiB/window-2KiB"
	b, vk := readFixture(t, name).key(t, name)
	rapid.Check(t, func(t *rapid.T) {
		switch rapid.IntRange(0, 2).Draw(t, "damage") {
		case 0: // cut
			n := rapid.IntRange(0, len(b)-1).Draw(t, "length")
			if _, err := groth16.ParseVerifyingKey(b[:n]); err == nil {
				t.Fatalf("key of %d bytes cut to %d was accepted", len(b), n)
			}
		case 1: // one bit
			c := slices.Clone(b)
			bit := rapid.IntRange(0, 8*len(b)-1).Draw(t, "bit")
			c[bit/8] ^= 1 << (bit % 8)
			if k, err := groth16.ParseVerifyingKey(c); err == nil {
				t.Fatalf("key with bit %d flipped was accepted, equal: %v", bit, k.Equal(vk))
			}
		case 2: // a point at infinity
			c := slices.Clone(b)
			first := []int{0, 96, 192, 384, 576, 672, 868, 868 + 96}
			at := rapid.SampledFrom(first).Draw(t, "offset")
			n := 96
			if at == 192 || at == 384 || at == 672 {
				n = 192
			}
			clear(c[at : at+n])
			c[at] = 0x40
			if _, err := groth16.ParseVerifyingKey(c); err == nil {
				t.Fatalf("key with a point at infinity at %d was accepted", at)
			}
		}
	})
}

func TestGoldenProofsVerify(t *testing.T) {
	for _, name := range proved {
		t.Run(name, func(t *testing.T) {
			f := readFixture(t, name)
			_, vk := f.key(t, name)
			k, err := groth16.Prepare(vk)
			if err != nil {
				t.Fatal(err)
			}
			for i := range f.Partitions {
				b := f.proof(t, i)
				p, err := groth16.ParseProof(b)
				if err != nil {
					t.Fatal(err)
				}
				if got := p.Bytes(); !bytes.Equal(got[:], b) {
					t.Error("proof is written with other bytes than it was read from")
				}
				inputs := f.inputs(t, i)
				if err := k.Verify(p, inputs); err != nil {
					t.Errorf("partition %d: %v", i, err)
				}
				if err := groth16.Verify(vk, p, inputs); err != nil {
					t.Errorf("partition %d with a fresh key: %v", i, err)
				}
				if err := k.Verify(p, inputs[1:]); err == nil || errors.Is(err, groth16.ErrInvalidProof) {
					t.Errorf("too few inputs: %v", err)
				}
			}
		})
	}
}

// TestWrongProofsDoNotVerify flips one bit anywhere in a proof, or changes one public input.
func TestWrongProofsDoNotVerify(t *testing.T) {
	name := "2KiB/winning-2KiB"
	f := readFixture(t, name)
	_, vk := f.key(t, name)
	k, err := groth16.Prepare(vk)
	if err != nil {
		t.Fatal(err)
	}
	b, inputs := f.proof(t, 0), f.inputs(t, 0)
	good, err := groth16.ParseProof(b)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		if rapid.Bool().Draw(t, "change an input") {
			changed := slices.Clone(inputs)
			i := rapid.IntRange(0, len(inputs)-1).Draw(t, "input")
			changed[i].Add(&changed[i], new(fr.Element).SetUint64(rapid.Uint64Min(1).Draw(t, "difference")))
			if err := k.Verify(good, changed); !errors.Is(err, groth16.ErrInvalidProof) {
				t.Fatalf("proof with input %d changed: %v", i, err)
			}
			return
		}
		c := slices.Clone(b)
		bit := rapid.IntRange(0, 8*len(b)-1).Draw(t, "bit")
		c[bit/8] ^= 1 << (bit % 8)
		p, err := groth16.ParseProof(c)
		if err != nil {
			return
		}
		if err := k.Verify(p, inputs); !errors.Is(err, groth16.ErrInvalidProof) {
			t.Fatalf("proof with bit %d flipped: %v", bit, err)
		}
	})
	for bit := range 8 { // the flags of each point, whatever was drawn
		for _, at := range []int{0, 48, 144} {
			c := slices.Clone(b)
			c[at] ^= 1 << bit
			if p, err := groth16.ParseProof(c); err == nil && k.Verify(p, inputs) == nil {
				t.Errorf("proof with bit %d of byte %d flipped is valid", bit, at)
			}
		}
	}
}

func TestProofRefusesInfinityAndLength(t *testing.T) {
	b := readFixture(t, "2KiB/winning-2KiB").proof(t, 0)
	for _, part := range [][2]int{{0, 48}, {48, 144}, {144, 192}} {
		c := slices.Clone(b)
		clear(c[part[0]:part[1]])
		if _, err := groth16.ParseProof(c); err == nil {
			t.Errorf("proof with zeros at %d was accepted", part[0])
		}
		c[part[0]] = 0xc0
		if _, err := groth16.ParseProof(c); err == nil {
			t.Errorf("proof with a point at infinity at %d was accepted", part[0])
		}
	}
	for _, n := range []int{0, 1, 191, 193, 384} {
		if _, err := groth16.ParseProof(make([]byte, n)); err == nil {
			t.Errorf("proof of %d bytes was accepted", n)
		}
	}
	if got, err := groth16.ParseProofs(append(slices.Clone(b), b...)); err != nil || len(got) != 2 {
		t.Errorf("two proofs: %d, %v", len(got), err)
	}
	for _, n := range []int{0, 191, 193} {
		if _, err := groth16.ParseProofs(append(slices.Clone(b), b...)[:n]); err == nil {
			t.Errorf("proofs of %d bytes were accepted", n)
		}
	}
}

func TestVerifyBatch(t *testing.T) {
	name := "2KiB/window-2KiB"
	f := readFixture(t, name)
	_, vk := f.key(t, name)
	k, err := groth16.Prepare(vk)
	if err != nil {
		t.Fatal(err)
	}
	var good []*groth16.Proof
	var goodInputs [][]fr.Element
	for i := range f.Partitions {
		p, err := groth16.ParseProof(f.proof(t, i))
		if err != nil {
			t.Fatal(err)
		}
		good, goodInputs = append(good, p), append(goodInputs, f.inputs(t, i))
	}
	if len(good) < 2 {
		t.Fatal("fixture has fewer than two partitions")
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "proofs")
		var want []int
		proofs, inputs := make([]*groth16.Proof, n), make([][]fr.Element, n)
		for i := range n {
			proofs[i], inputs[i] = good[i%2], goodInputs[i%2]
			switch rapid.IntRange(0, 9).Draw(t, "damage") {
			case 0: // another partition's inputs
				inputs[i] = goodInputs[1-i%2]
				want = append(want, i)
			case 1: // the other sign of C
				p := *proofs[i]
				p.C.Neg(&p.C)
				proofs[i] = &p
				want = append(want, i)
			}
		}
		err := k.VerifyBatch(proofs, inputs)
		if len(want) == 0 {
			if err != nil {
				t.Fatalf("batch of %d valid proofs: %v", n, err)
			}
			return
		}
		var bad *groth16.InvalidProofsError
		if !errors.As(err, &bad) || !errors.Is(err, groth16.ErrInvalidProof) {
			t.Fatalf("batch with wrong proofs %v: %v", want, err)
		}
		if !slices.Equal(bad.Indices, want) {
			t.Fatalf("wrong proofs %v, want %v", bad.Indices, want)
		}
	})
	if err := k.VerifyBatch(nil, nil); err == nil {
		t.Error("empty batch was accepted")
	}
}

func BenchmarkVerify(b *testing.B) {
	name := "2KiB/winning-2KiB"
	f := readFixture(b, name)
	_, vk := f.key(b, name)
	k, err := groth16.Prepare(vk)
	if err != nil {
		b.Fatal(err)
	}
	p, err := groth16.ParseProof(f.proof(b, 0))
	if err != nil {
		b.Fatal(err)
	}
	inputs := f.inputs(b, 0)
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			if err := k.Verify(p, inputs); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("batch of 10", func(b *testing.B) {
		proofs, all := make([]*groth16.Proof, 10), make([][]fr.Element, 10)
		for i := range proofs {
			proofs[i], all[i] = p, inputs
		}
		for b.Loop() {
			if err := k.VerifyBatch(proofs, all); err != nil {
				b.Fatal(err)
			}
		}
	})
}
