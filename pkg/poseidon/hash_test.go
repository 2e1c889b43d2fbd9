package poseidon

import (
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"pgregory.net/rapid"
)

func instances() []*Constants {
	return []*Constants{For(2), For(4), For(8), For(11), GenRandomness()}
}

// element draws a field element; small values and those next to the modulus come up often.
func element() *rapid.Generator[fr.Element] {
	return rapid.Custom(func(t *rapid.T) fr.Element {
		var e fr.Element
		switch rapid.IntRange(0, 3).Draw(t, "class") {
		case 0:
			e.SetUint64(rapid.Uint64Range(0, 3).Draw(t, "small"))
		case 1:
			e.SetUint64(rapid.Uint64Range(0, 3).Draw(t, "below"))
			e.Neg(&e)
		default:
			e.SetBytes(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "bytes"))
		}
		return e
	})
}

func preimage(t *rapid.T, c *Constants) []fr.Element {
	return rapid.SliceOfN(element(), c.Arity, c.Arity).Draw(t, "preimage")
}

func TestHashEqualsReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(instances()).Draw(t, "instance")
		in := preimage(t, c)
		kept := slices.Clone(in)
		got, want := c.Hash(in), c.HashReference(in)
		if got != want {
			t.Fatalf("arity %d: hash %s, reference %s", c.Arity, got.String(), want.String())
		}
		if !slices.Equal(in, kept) {
			t.Fatal("the preimage was changed")
		}
	})
}

// TestStates holds the variables against the equations of the circuit, which refer to uncompressed values only through x -> x^2 -> x^4 -> x^5,
// and the digest against the reference.
func TestStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(instances()).Draw(t, "instance")
		in := preimage(t, c)
		states := make([]fr.Element, c.NumVariables())
		c.States(states, in)
		if got, want := states[len(states)-1], c.HashReference(in); got != want {
			t.Fatalf("arity %d: last variable %s, digest %s", c.Arity, got.String(), want.String())
		}
		at := 0
		box := func(x fr.Element, key fr.Element) {
			var x2, x4, x5 fr.Element
			x2.Square(&x)
			x4.Square(&x2)
			x5.Mul(&x4, &x)
			x5.Add(&x5, &key)
			if states[at] != x2 || states[at+1] != x4 || states[at+2] != x5 {
				t.Fatalf("arity %d: wrong powers at variable %d", c.Arity, at)
			}
			at += 3
		}
		for i := range in {
			var x fr.Element
			x.Add(&in[i], &c.RoundConstants[1+i])
			box(x, c.RoundConstants[c.Width+1+i])
		}
		keys := slices.Clone(c.RoundConstants[2*c.Width:])
		keys = append(keys, make([]fr.Element, c.Width)...)
		for _, key := range keys {
			x := states[at]
			at++
			box(x, key)
		}
		if at != len(states)-1 {
			t.Fatalf("arity %d: %d variables before the digest, expected %d", c.Arity, at, len(states)-1)
		}
	})
}

func TestSparseFactorsGiveBackTheMDSMatrix(t *testing.T) {
	for _, c := range instances() {
		cur := matrix(c.MDS)
		for round := c.PartialRounds - 1; round >= 0; round-- {
			prime := identity(c.Width)
			for i := 1; i < c.Width; i++ {
				copy(prime[i][1:], cur[i][1:])
			}
			full := identity(c.Width)
			for i := range full {
				full[i][0] = c.Sparse[round].WHat[i]
			}
			copy(full[0][1:], c.Sparse[round].VRest)
			product := prime.mul(full)
			for i := range cur {
				if !slices.Equal(product[i], cur[i]) {
					t.Fatalf("arity %d, partial round %d: the factors do not give the matrix", c.Arity, round)
				}
			}
			cur = matrix(c.MDS).mul(prime)
		}
		for i := range cur {
			if !slices.Equal(cur[i], c.PreSparse[i]) {
				t.Fatalf("arity %d: wrong pre-sparse matrix", c.Arity)
			}
		}
	}
}

func TestInstances(t *testing.T) {
	for _, tc := range []struct{ arity, variables int }{{2, 311}, {4, 377}, {8, 505}, {11, 598}} {
		c := For(tc.arity)
		if c != For(tc.arity) {
			t.Errorf("arity %d is built twice", tc.arity)
		}
		if c.NumVariables() != tc.variables {
			t.Errorf("arity %d: %d variables, expected %d", tc.arity, c.NumVariables(), tc.variables)
		}
	}
	if For(2).DomainTag == GenRandomness().DomainTag {
		t.Error("two hash types share a domain tag")
	}
	defer func() {
		if recover() == nil {
			t.Error("arity 3 did not panic")
		}
	}()
	For(3)
}

func TestNoAllocation(t *testing.T) {
	for _, c := range instances() {
		in := make([]fr.Element, c.Arity)
		states := make([]fr.Element, c.NumVariables())
		if n := testing.AllocsPerRun(10, func() { c.Hash(in); c.States(states, in) }); n != 0 {
			t.Errorf("arity %d: %v allocations", c.Arity, n)
		}
	}
}
