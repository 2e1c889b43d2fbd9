package r1cs

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"pgregory.net/rapid"
)

// flat is the slow and obvious form of a system: every constraint by itself, its combinations as
// maps from absolute variables. Inputs are keyed with bit 31 set.
type flat struct {
	inputs, aux int
	rows        [][3]map[uint32]fr.Element
}

// plan is a random block: for each row and matrix, terms over symbols that both forms resolve.
type plan struct {
	repeat, aux, inputs int
	moving              [][]Var // shared variables for each instance
	rows                [][3][]planTerm
}

type planTerm struct {
	pick  int // which symbol
	coeff fr.Element
}

func drawCoeff(t *rapid.T) fr.Element {
	var e fr.Element
	e.SetInt64(rapid.Int64Range(-3, 5).Draw(t, "coeff"))
	return e
}

// drawSystem builds the same random circuit with the Builder and flatly.
func drawSystem(t *rapid.T) (*System, *flat) {
	b := NewBuilder()
	f := &flat{inputs: 1}
	known := []Var{One} // absolute variables of finished blocks
	for range rapid.IntRange(1, 4).Draw(t, "blocks") {
		p := plan{
			repeat: rapid.IntRange(1, 4).Draw(t, "repeat"),
			aux:    rapid.IntRange(0, 4).Draw(t, "aux"),
			inputs: rapid.IntRange(0, 2).Draw(t, "inputs"),
		}
		for range rapid.IntRange(0, 2).Draw(t, "moving") {
			first := rapid.SampledFrom(known).Draw(t, "at")
			at := []Var{first}
			for len(at) < p.repeat {
				v := rapid.SampledFrom(known).Draw(t, "at")
				if v.IsAux() != first.IsAux() {
					v = first
				}
				at = append(at, v)
			}
			p.moving = append(p.moving, at)
		}
		symbols := p.aux + p.inputs + len(p.moving) + len(known)
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			var row [3][]planTerm
			for m := range row {
				for range rapid.IntRange(0, 5).Draw(t, "terms") {
					row[m] = append(row[m], planTerm{rapid.IntRange(0, symbols-1).Draw(t, "var"), drawCoeff(t)})
				}
			}
			p.rows = append(p.rows, row)
		}
		p.dropMeeting(known)
		known = append(known, p.build(b, f, known)...)
	}
	return b.System(), f
}

// dropMeeting removes moving variables that meet a shared one, or each other, in some instance: the
// terms of a row must stay distinct (see Matrix).
func (p *plan) dropMeeting(known []Var) {
	for r := range p.rows {
		for m := range p.rows[r] {
			p.rows[r][m] = slices.DeleteFunc(p.rows[r][m], func(t planTerm) bool {
				k := t.pick - p.aux - p.inputs
				if k < 0 || k >= len(p.moving) {
					return false
				}
				for _, other := range p.rows[r][m] {
					o := other.pick - p.aux - p.inputs
					switch {
					case o < 0 || o == k:
					case o < len(p.moving):
						return true
					case slices.Contains(p.moving[k], known[o-len(p.moving)]):
						return true
					}
				}
				return false
			})
		}
	}
}

func (p *plan) build(b *Builder, f *flat, known []Var) []Var {
	ref := b.Block("random", p.repeat, func(cs *CS) {
		var symbols []Var
		for range p.aux {
			symbols = append(symbols, cs.AllocElement())
		}
		for range p.inputs {
			symbols = append(symbols, cs.AllocInput())
		}
		for _, at := range p.moving {
			symbols = append(symbols, cs.Moving(at))
		}
		symbols = append(symbols, known...)
		for _, row := range p.rows {
			var lcs [3]LC
			for m := range row {
				for _, t := range row[m] {
					lcs[m] = lcs[m].AddScaled(t.coeff, symbols[t.pick])
				}
			}
			cs.Enforce(lcs[0], lcs[1], lcs[2])
		}
	})
	absolute := func(pick, i int) uint32 {
		key := func(v Var) uint32 {
			if v.IsAux() {
				return uint32(v.Index())
			}
			return uint32(v.Index()) | 1<<31
		}
		switch {
		case pick < p.aux:
			return uint32(f.aux + i*p.aux + pick)
		case pick < p.aux+p.inputs:
			return uint32(f.inputs+i*p.inputs+pick-p.aux) | 1<<31
		case pick < p.aux+p.inputs+len(p.moving):
			return key(p.moving[pick-p.aux-p.inputs][i])
		default:
			return key(known[pick-p.aux-p.inputs-len(p.moving)])
		}
	}
	var made []Var
	for i := range p.repeat {
		for _, row := range p.rows {
			var out [3]map[uint32]fr.Element
			for m := range row {
				out[m] = map[uint32]fr.Element{}
				for _, t := range row[m] {
					v := absolute(t.pick, i)
					e := out[m][v]
					e.Add(&e, &t.coeff)
					out[m][v] = e
				}
				for v, e := range out[m] {
					if e.IsZero() {
						delete(out[m], v)
					}
				}
			}
			f.rows = append(f.rows, out)
		}
		for k := range p.aux {
			v := auxFlag | own | Var(k)
			if p.repeat == 1 {
				v = auxFlag | shared | Var(f.aux+k)
			}
			made = append(made, ref.At(i, v))
		}
	}
	f.aux += p.repeat * p.aux
	f.inputs += p.repeat * p.inputs
	return made
}

// digest writes the definition in Digest's comment down once more, without blocks.
func (f *flat) digest() string {
	var buf []byte
	rows := slices.Clone(f.rows)
	for i := range f.inputs {
		rows = append(rows, [3]map[uint32]fr.Element{{uint32(i) | 1<<31: fr.One()}, {}, {}})
	}
	for _, row := range rows {
		for _, lc := range row {
			var keys []uint32
			for v := range lc {
				keys = append(keys, v)
			}
			slices.SortFunc(keys, func(a, b uint32) int { return int(int64(a^1<<31) - int64(b^1<<31)) })
			buf = binary.LittleEndian.AppendUint32(buf, uint32(len(keys)))
			for _, v := range keys {
				var e [32]byte
				fr.LittleEndian.PutElement(&e, lc[v])
				buf = append(binary.LittleEndian.AppendUint32(buf, v), e[:]...)
			}
		}
	}
	chunk := sha256.Sum256(buf)
	root := sha256.Sum256(chunk[:])
	return hex.EncodeToString(root[:])
}

func TestBlocksEqualFlatForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sys, f := drawSystem(t)
		if sys.NumInputs != f.inputs || sys.NumAux != f.aux || sys.NumConstraints != len(f.rows)+f.inputs {
			t.Fatalf("%d inputs, %d aux, %d constraints, want %d, %d, %d",
				sys.NumInputs, sys.NumAux, sys.NumConstraints, f.inputs, f.aux, len(f.rows)+f.inputs)
		}
		d, err := sys.Digest(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if d.R1CS != f.digest() {
			t.Fatalf("digest %s, want %s", d.R1CS, f.digest())
		}
		f.checkDensity(t, sys)
		f.checkValues(t, sys)
	})
}

func (f *flat) checkDensity(t *rapid.T, sys *System) {
	for m := range 3 {
		d := sys.Density(MatrixName(m))
		dense := map[uint32]bool{}
		for _, row := range f.rows {
			for v := range row[m] {
				dense[v] = true
			}
		}
		for i := range f.inputs {
			if d.Inputs.Has(i) != dense[uint32(i)|1<<31] {
				t.Fatalf("matrix %d: density of input %d is %v", m, i, d.Inputs.Has(i))
			}
		}
		for i := range f.aux {
			if d.Aux.Has(i) != dense[uint32(i)] {
				t.Fatalf("matrix %d: density of aux %d is %v", m, i, d.Aux.Has(i))
			}
		}
		if d.Aux.Count()+d.Inputs.Count() != len(dense) {
			t.Fatalf("matrix %d: %d dense columns, want %d", m, d.Aux.Count()+d.Inputs.Count(), len(dense))
		}
	}
}

func (f *flat) checkValues(t *rapid.T, sys *System) {
	inputs, aux := make([]fr.Element, f.inputs), make([]fr.Element, f.aux)
	for _, z := range [][]fr.Element{inputs, aux} {
		for i := range z {
			z[i] = drawCoeff(t)
		}
	}
	inputs[0].SetOne()
	value := func(lc map[uint32]fr.Element) (sum fr.Element) {
		for v, c := range lc {
			x := aux
			if v>>31 == 1 {
				x = inputs
			}
			c.Mul(&c, &x[v&^(1<<31)])
			sum.Add(&sum, &c)
		}
		return sum
	}
	for m := range 3 {
		dst := make([]fr.Element, sys.NumConstraints)
		if err := sys.Evaluate(context.Background(), MatrixName(m), dst, inputs, aux, 2); err != nil {
			t.Fatal(err)
		}
		for k, row := range f.rows {
			if want := value(row[m]); !dst[k].Equal(&want) {
				t.Fatalf("matrix %d, row %d: %s, want %s", m, k, dst[k].String(), want.String())
			}
		}
		for i := range inputs {
			if got := dst[len(f.rows)+i]; m == 0 && got != inputs[i] || m > 0 && !got.IsZero() {
				t.Fatalf("matrix %d, input row %d: %s", m, i, got.String())
			}
		}
	}
	first := -1
	for k, row := range f.rows {
		x, y, z := value(row[0]), value(row[1]), value(row[2])
		if x.Mul(&x, &y); first < 0 && !x.Equal(&z) {
			first = k
		}
	}
	err := sys.Satisfied(context.Background(), inputs, aux)
	var unsatisfied *UnsatisfiedError
	switch {
	case first < 0 && err != nil:
		t.Fatalf("satisfied, but %v", err)
	case first >= 0 && (!errors.As(err, &unsatisfied) || unsatisfied.Constraint != first):
		t.Fatalf("constraint %d is violated, but %v", first, err)
	}
}

func TestCanonicalCombination(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lc LC
		want := map[Var]fr.Element{}
		for range rapid.IntRange(0, 80).Draw(t, "terms") {
			v, c := Var(rapid.Uint32Range(0, 9).Draw(t, "var")), drawCoeff(t)
			lc = lc.AddScaled(c, v)
			e := want[v]
			want[v] = *e.Add(&e, &c)
		}
		got := lc.canonical()
		for i, term := range got {
			if i > 0 && got[i-1].Var >= term.Var {
				t.Fatal("not sorted")
			}
			if e := want[term.Var]; term.Coeff != e || e.IsZero() {
				t.Fatalf("%v has coefficient %s", term.Var, term.Coeff.String())
			}
			delete(want, term.Var)
		}
		for v, e := range want {
			if !e.IsZero() {
				t.Fatalf("%v is missing", v)
			}
		}
	})
}

func TestEndedContext(t *testing.T) {
	b := NewBuilder()
	b.Block("b", 1, func(cs *CS) { cs.Enforce(nil, nil, nil) })
	sys := b.System()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := sys.Digest(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("digest: %v", err)
	}
	if err := sys.Satisfied(ctx, make([]fr.Element, 1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("satisfied: %v", err)
	}
	if err := sys.Evaluate(ctx, MatrixA, make([]fr.Element, 2), make([]fr.Element, 1), nil, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("evaluate: %v", err)
	}
}
