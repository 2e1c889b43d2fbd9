package gadget_test

import (
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/gadget"
	"github.com/proofmill/proofmill/pkg/poseidon"
	"github.com/proofmill/proofmill/pkg/r1cs"
	"github.com/proofmill/proofmill/pkg/witness"
)

// circuitOf is one gadget alone: a block that holds its operands and then its own variables.
type circuitOf struct {
	sys *r1cs.System
	aux []fr.Element
}

// satisfy builds a block, assigns it, and checks that the assignment satisfies it.
func satisfy(t *rapid.T, build func(cs *r1cs.CS), assign func(a *r1cs.Assigner)) *circuitOf {
	t.Helper()
	b := r1cs.NewBuilder()
	b.Block("gadget", 1, build)
	sys := b.System()
	w := witness.New(sys)
	if err := w.Assign(0, 0, assign); err != nil {
		t.Fatal(err)
	}
	aux, err := w.Aux(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	c := &circuitOf{sys, aux}
	if err := c.satisfied(t); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *circuitOf) satisfied(t *rapid.T) error {
	return c.sys.Satisfied(t.Context(), []fr.Element{fr.One()}, c.aux)
}

func (c *circuitOf) value(n gadget.Num) *fr.Element { return &c.aux[n.Var.Index()] }

// rejectsAnyOther changes one variable from the index from on to another value, which the circuit
// must not accept: each of them follows from the operands.
func (c *circuitOf) rejectsAnyOther(t *rapid.T, from int) {
	t.Helper()
	i := rapid.IntRange(from, len(c.aux)-1).Draw(t, "changed variable")
	old := c.aux[i]
	c.aux[i] = drawElement(t, "change")
	if c.aux[i] != old && c.satisfied(t) == nil {
		t.Fatalf("variable %d may be %s and %s", i, &old, &c.aux[i])
	}
}

func drawElement(t *rapid.T, label string) fr.Element {
	var e fr.Element
	e.SetBytes(rapid.SliceOfN(rapid.Byte(), 48, 48).Draw(t, label))
	return e
}

func TestHighBits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nbits := rapid.IntRange(1, 31).Draw(t, "bits")
		challenge := rapid.Uint64Range(0, 1<<nbits-1).Draw(t, "challenge")
		hs := rapid.SliceOfN(rapid.IntRange(0, nbits), 1, 6).Draw(t, "hs")
		choice := rapid.IntRange(0, len(hs)-1).Draw(t, "choice")

		var out gadget.Num
		c := satisfy(t, func(cs *r1cs.CS) {
			bits := gadget.AllocBits(cs, nbits)
			selector := gadget.AllocBits(cs, len(hs))
			out = gadget.HighBits(cs, bits, selector, hs)
		}, func(a *r1cs.Assigner) {
			a.Bits(challenge, uint(nbits))
			a.Bits(1<<choice, uint(len(hs)))
			got := gadget.AssignHighBits(a, challenge, nbits, 1<<choice, hs)
			if want := fr.NewElement(highBits(challenge, nbits, hs[choice])); got != want {
				t.Errorf("assignment returns %s, want %s", &got, &want)
			}
		})
		if got, want := c.value(out), fr.NewElement(highBits(challenge, nbits, hs[choice])); *got != want {
			t.Errorf("high bits are %s, want %s", got, &want)
		}
		c.rejectsAnyOther(t, nbits+len(hs))
	})
}

// highBits reads the h highest of the lowest nbits bits of v one by one.
func highBits(v uint64, nbits, h int) uint64 {
	var out uint64
	for i := nbits - 1; i >= nbits-h; i-- {
		out = 2*out + v>>i&1
	}
	return out
}

func TestEncodeNode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		old, data, rho := drawElement(t, "old"), drawElement(t, "data"), drawElement(t, "rho")
		var out gadget.Num
		c := satisfy(t, func(cs *r1cs.CS) {
			n := gadget.AllocNums(cs, 3)
			out = gadget.EncodeNode(cs, n[0], n[1], n[2])
		}, func(a *r1cs.Assigner) {
			a.Element(&old)
			a.Element(&data)
			a.Element(&rho)
			gadget.AssignEncodeNode(a, &old, &data, &rho)
		})
		var o, d, r big.Int
		want := d.Mul(data.BigInt(&d), rho.BigInt(&r))
		want.Mod(want.Add(want, old.BigInt(&o)), fr.Modulus())
		if got := c.value(out).BigInt(new(big.Int)); got.Cmp(want) != 0 {
			t.Errorf("encoded node is %v, want %v", got, want)
		}
		c.rejectsAnyOther(t, 3)
	})
}

func TestChallengeBits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shape := gadget.ChallengeBits{
			Challenges:   rapid.IntRange(1, 25).Draw(t, "challenges"),
			PerChallenge: rapid.IntRange(5, 31).Draw(t, "bits per challenge"),
		}
		commR, k := drawElement(t, "comm_r"), rapid.Uint64Range(0, 15).Draw(t, "partition")
		partition := fr.NewElement(k)
		var challenges [][]gadget.Bit
		c := satisfy(t, func(cs *r1cs.CS) {
			n := gadget.AllocNums(cs, 2)
			challenges = shape.Make(cs, n[0], n[1])
		}, func(a *r1cs.Assigner) {
			a.Element(&commR)
			a.Element(&partition)
			shape.Assign(a, &commR, k)
		})
		if len(challenges) != shape.Challenges {
			t.Fatalf("%d challenges, want %d", len(challenges), shape.Challenges)
		}
		for i, bits := range challenges {
			want := challenge(shape, commR, k, i)
			for j, b := range bits {
				if got := c.aux[b.Var.Index()]; got != fr.NewElement(uint64(want.Bit(j))) {
					t.Fatalf("bit %d of challenge %d is %s, want %d", j, i, &got, want.Bit(j))
				}
			}
		}
	})
}

// challenge is the random part of challenge i of partition k, by the permutation as the paper has it.
func challenge(s gadget.ChallengeBits, commR fr.Element, k uint64, i int) *big.Int {
	perDigest := 254 / s.PerChallenge
	digests := s.Challenges / perDigest
	if s.Challenges%perDigest != 0 {
		digests++
	}
	counter := fr.NewElement(k*uint64(digests) + uint64(i/perDigest))
	digest := poseidon.GenRandomness().HashReference([]fr.Element{commR, counter})
	v := digest.BigInt(new(big.Int))
	v.Rsh(v, uint(i%perDigest*s.PerChallenge))
	return v.And(v, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(s.PerChallenge)), big.NewInt(1)))
}
