package poseidon

import (
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"pgregory.net/rapid"
)

// TestDotEqualsReference compares the lazily reduced scalar product, by the processor's own
// instructions and in plain Go, with one that reduces every product.
func TestDotEqualsReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, maxTerms).Draw(t, "terms")
		a := rapid.SliceOfN(element(), n, n).Draw(t, "a")
		b := rapid.SliceOfN(element(), n, n).Draw(t, "b")
		want := dotReference(a, b)
		if got := dot(a, b); got != want {
			t.Fatalf("%d terms: %s, reference %s", n, got.String(), want.String())
		}
		var w wide
		w.addProductsGeneric(a, b)
		if got := w.reduce(); got != want {
			t.Fatalf("%d terms in plain Go: %s, reference %s", n, got.String(), want.String())
		}
	})
}

// TestDotOfLargestElements has the largest sums that can occur: q-1 in Montgomery form is the
// largest reduced representation.
func TestDotOfLargestElements(t *testing.T) {
	largest := fr.Element(modulus)
	largest[0]-- // q is odd
	for n := range maxTerms + 1 {
		a := make([]fr.Element, n)
		for i := range a {
			a[i] = largest
		}
		if got, want := dot(a, a), dotReference(a, a); got != want {
			t.Errorf("%d terms: %s, reference %s", n, got.String(), want.String())
		}
	}
}

func TestModulus(t *testing.T) {
	q := fr.Modulus()
	for i, w := range q.Bits() {
		if uint64(w) != modulus[i] {
			t.Errorf("limb %d of the modulus is %x", i, w)
		}
	}
	if modulus[0]*montgomery != ^uint64(0) {
		t.Error("montgomery is not -1/q")
	}
	if want := ^uint64(0) / (modulus[3]>>4 + 1); want != quotient {
		t.Errorf("quotient is %d, expected %d", quotient, want)
	}
}

func BenchmarkDot(b *testing.B) {
	x, y := randomPreimage(9), randomPreimage(9)
	for name, f := range map[string]func(a, b []fr.Element) fr.Element{"lazy": dot, "reference": dotReference} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				x[0] = f(x, y)
			}
		})
	}
}
