package groth16

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/r1cs"
	"github.com/proofmill/proofmill/pkg/witness"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// step is one variable of a small circuit's block: a free bit, element or input, or the product of
// two combinations of what came before.
type step struct {
	kind rune // 'b', 'e', 'i' or '*'
	v    r1cs.Var
	a, b r1cs.LC
}

// smallCircuit draws a system with exactly constraints constraints (at least two) and a witness that
// satisfies it.
func smallCircuit(t *rapid.T, constraints int) (*r1cs.System, *witness.Witness) {
	coeff := rapid.Custom(func(t *rapid.T) fr.Element { return drawScalar(t, "coefficient") })
	b := r1cs.NewBuilder()
	var blocks [][]step
	var earlier []r1cs.Var // shared variables of earlier blocks
	left := constraints - 1
	for left > 0 {
		repeat := rapid.IntRange(1, min(3, left)).Draw(t, "repeat")
		steps := make([]step, 0)
		ref := b.Block("block", repeat, func(cs *r1cs.CS) {
			vars := append([]r1cs.Var{r1cs.One}, earlier...)
			lc := func() r1cs.LC {
				var lc r1cs.LC
				for range rapid.IntRange(1, 3).Draw(t, "terms") {
					lc = lc.AddScaled(coeff.Draw(t, "coefficient"), rapid.SampledFrom(vars).Draw(t, "variable"))
				}
				return lc
			}
			for room := left / repeat; room > 0; {
				kind := rapid.SampledFrom([]rune{'b', 'e', 'i', '*', '*'}).Draw(t, "kind")
				if kind == 'i' && room < 2 {
					kind = '*'
				}
				s := step{kind: kind}
				switch kind {
				case 'b': // v * (1 - v) = 0
					s.v = cs.AllocBit()
					cs.Enforce(r1cs.LCOf(s.v), r1cs.LCOf(r1cs.One).Sub(s.v), nil)
				case 'e': // v * 1 = v, or v only in B
					s.v = cs.AllocElement()
					if rapid.Bool().Draw(t, "only in B") {
						cs.Enforce(nil, r1cs.LCOf(s.v), nil)
					} else {
						cs.Enforce(r1cs.LCOf(s.v), r1cs.LCOf(r1cs.One), r1cs.LCOf(s.v))
					}
				case 'i': // costs another constraint at the end; here it makes one of its own too
					s.v = cs.AllocInput()
					cs.Enforce(r1cs.LCOf(s.v), r1cs.LCOf(r1cs.One), r1cs.LCOf(s.v))
					room--
				case '*':
					s.a, s.b = lc(), lc()
					s.v = cs.AllocElement()
					cs.Enforce(s.a, s.b, r1cs.LCOf(s.v))
				}
				steps = append(steps, s)
				vars = append(vars, s.v)
				room--
				if rapid.IntRange(0, 9).Draw(t, "end block") == 0 {
					break
				}
			}
		})
		for _, s := range steps {
			left -= repeat
			if s.kind == 'i' {
				left -= repeat
			}
			earlier = append(earlier, ref.At(repeat-1, s.v))
		}
		blocks = append(blocks, steps)
	}
	sys := b.System()
	return sys, assign(t, sys, blocks)
}

func assign(t *rapid.T, sys *r1cs.System, blocks [][]step) *witness.Witness {
	w := witness.New(sys)
	inputs, aux := make([]fr.Element, sys.NumInputs), make([]fr.Element, sys.NumAux)
	inputs[0].SetOne()
	zeroBits := rapid.Bool().Draw(t, "all bits zero")
	for k, steps := range blocks {
		b := &sys.Blocks[k]
		for i := range b.Repeat {
			at := func(v r1cs.Var) *fr.Element {
				if v.IsAux() {
					return &aux[b.Position(v, i)]
				}
				return &inputs[b.Position(v, i)]
			}
			value := func(lc r1cs.LC) (sum fr.Element) {
				var p fr.Element
				for _, term := range lc {
					sum.Add(&sum, p.Mul(&term.Coeff, at(term.Var)))
				}
				return sum
			}
			err := w.Assign(k, i, func(a *r1cs.Assigner) {
				for _, s := range steps {
					x := at(s.v)
					switch s.kind {
					case 'b':
						bit := !zeroBits && rapid.Bool().Draw(t, "bit")
						if bit {
							x.SetOne()
						}
						a.Bit(bit)
					case 'e':
						*x = drawScalar(t, "value")
						a.Element(x)
					case 'i':
						*x = drawScalar(t, "input")
						a.Input(x)
					case '*':
						p, q := value(s.a), value(s.b)
						x.Mul(&p, &q)
						a.Element(x)
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := sys.Satisfied(context.Background(), inputs, aux); err != nil {
		t.Fatal(err)
	}
	return w
}

var sizes = []int{1, 2, 3, 4, 5, 8, 9, 31, 32, 33, 64, 65}

// TestSmallCircuits makes parameters and proofs of small circuits and compares them with the
// reference; the proofs verify, and those of a wrong witness do not.
func TestSmallCircuits(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		sys, w := smallCircuit(t, rapid.SampledFrom(sizes).Draw(t, "constraints"))
		toxic, err := RandomToxic()
		if err != nil {
			t.Fatal(err)
		}
		ref := newReference(sys, toxic)
		workers := rapid.IntRange(0, 3).Draw(t, "workers")
		path := filepath.Join(dir, "small.params")
		res, err := SetupFile(context.Background(), sys, path, SetupOptions{Toxic: toxic, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, ref.file()) {
			t.Fatal("parameters differ from the reference's")
		}
		p, err := OpenParams(path, PolicyTest)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if err := errors.Join(p.Fits(sys), p.Check(context.Background(), workers, nil)); err != nil {
			t.Fatal(err)
		}
		if d, err := p.Digests(context.Background(), nil); err != nil || d != res.Digests {
			t.Fatalf("digests %v, want %v, error %v", d, res.Digests, err)
		}
		key, err := LoadKey(context.Background(), p, workers)
		if err != nil {
			t.Fatal(err)
		}
		prover, err := NewProver(sys, key)
		if err != nil {
			t.Fatal(err)
		}
		r, s := drawScalar(t, "r"), drawScalar(t, "s")
		aux, err := w.Aux(context.Background(), 1)
		if err != nil {
			t.Fatal(err)
		}
		want := ref.proof(w.Inputs, aux, &r, &s)
		proof, err := prover.Prove(context.Background(), w, ProveOptions{R: &r, S: &s, Workers: workers})
		if want.hasInfinity() { // without randomness, a circuit without variables has C = 0
			if err == nil {
				t.Fatal("proof with a point at infinity was made")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if proof.Bytes() != want.Bytes() {
			t.Fatal("proof differs from the reference's")
		}
		if err := Verify(res.VerifyingKey, proof, w.Inputs[1:]); err != nil {
			t.Fatal(err)
		}
		// Fresh randomness: another proof, as valid.
		again, err := prover.Prove(context.Background(), w, ProveOptions{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if again.Bytes() == proof.Bytes() {
			t.Fatal("two proofs with fresh randomness are equal")
		}
		if err := Verify(res.VerifyingKey, again, w.Inputs[1:]); err != nil {
			t.Fatal(err)
		}
		// Another witness: whatever element is changed, the assignment no longer holds, or it is an
		// element that only a zero multiplies.
		if len(w.Elements) == 0 {
			return
		}
		var one fr.Element
		e := &w.Elements[rapid.IntRange(0, len(w.Elements)-1).Draw(t, "wrong element")]
		e.Add(e, one.SetOne())
		aux, err = w.Aux(context.Background(), 1)
		if err != nil {
			t.Fatal(err)
		}
		holds := sys.Satisfied(context.Background(), w.Inputs, aux) == nil
		wrong, err := prover.Prove(context.Background(), w, ProveOptions{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if err := Verify(res.VerifyingKey, wrong, w.Inputs[1:]); (err == nil) != holds {
			t.Fatalf("witness that satisfies the circuit: %v, verification: %v", holds, err)
		}
	})
}

func TestQuotientIsTheReferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := 1 << rapid.IntRange(0, 6).Draw(t, "log n")
		a, b := make([]fr.Element, n), make([]fr.Element, n)
		for i := range a {
			a[i], b[i] = drawScalar(t, "a"), drawScalar(t, "b")
		}
		// (A B - C) / Z at a random point, by interpolation
		m := &reference{n: n}
		w, err := fr.Generator(uint64(n))
		if err != nil {
			t.Fatal(err)
		}
		m.roots = make([]fr.Element, n)
		powers(m.roots, &w, 0)
		x := randomScalars(1)[0]
		var pa, pb, pc, u fr.Element
		for k := range n {
			l := m.basis(k, &x)
			pa.Add(&pa, u.Mul(&l, &a[k]))
			pb.Add(&pb, u.Mul(&l, &b[k]))
			u.Mul(&l, &a[k])
			pc.Add(&pc, u.Mul(&u, &b[k]))
		}
		z := m.zAt(&x)
		pa.Mul(&pa, &pb)
		pa.Sub(&pa, &pc)
		pa.Div(&pa, &z)
		h, err := quotient(context.Background(), newDomain(n), a, b, rapid.IntRange(0, 3).Draw(t, "workers"))
		if err != nil || len(h) != n-1 {
			t.Fatalf("quotient has %d coefficients, want %d, error %v", len(h), n-1, err)
		}
		var got fr.Element
		for i := len(h) - 1; i >= 0; i-- {
			got.Mul(&got, &x)
			got.Add(&got, &h[i])
		}
		if got != pa {
			t.Fatal("quotient differs from the reference's")
		}
	})
}

func TestLagrangeIsTheReferences(t *testing.T) {
	for n := 1; n <= 64; n *= 2 {
		m := &reference{n: n, roots: make([]fr.Element, n)}
		w, err := fr.Generator(uint64(n))
		if err != nil {
			t.Fatal(err)
		}
		powers(m.roots, &w, 0)
		tau := randomScalars(1)[0]
		got, err := lagrange(&tau, n, n, 2)
		if err != nil {
			t.Fatal(err)
		}
		for k := range got {
			if got[k] != m.basis(k, &tau) {
				t.Fatalf("polynomial %d of %d differs from the reference's", k, n)
			}
		}
	}
}
