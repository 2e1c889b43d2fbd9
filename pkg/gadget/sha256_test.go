package gadget_test

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/gadget"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

// pattern is a message's shape: which bits of each word are variables, which of them negated, and
// the values of the constant bits.
type pattern []gadget.Word

// message makes the pattern's words in a circuit, most significant bit first.
func (p pattern) message(cs *r1cs.CS) []gadget.Boolean {
	var out []gadget.Boolean
	for _, w := range p {
		for i := 31; i >= 0; i-- {
			switch {
			case w.Vars>>i&1 == 0:
				out = append(out, gadget.Constant(w.Value>>i&1 == 1))
			case w.Negated>>i&1 == 0:
				out = append(out, gadget.Is(gadget.AllocBit(cs)))
			default:
				out = append(out, gadget.Is(gadget.AllocBit(cs)).Not())
			}
		}
	}
	return out
}

// assign writes the words' variables.
func (p pattern) assign(a *r1cs.Assigner) {
	for _, w := range p {
		for i := 31; i >= 0; i-- {
			if w.Vars>>i&1 == 1 {
				a.Bit((w.Value^w.Negated)>>i&1 == 1)
			}
		}
	}
}

func (p pattern) bytes() []byte {
	var out []byte
	for _, w := range p {
		out = binary.BigEndian.AppendUint32(out, w.Value)
	}
	return out
}

// random draws a message of n words. Words are mostly all variables, as in Filecoin's circuits.
func randomPattern(t *rapid.T, n int) pattern {
	p := make(pattern, n)
	for i := range p {
		p[i] = gadget.VariableWord(rapid.Uint32().Draw(t, "value"))
		switch rapid.SampledFrom([]string{"variable", "variable", "constant", "top bit", "mixed"}).Draw(t, "kind") {
		case "constant":
			p[i].Vars = 0
		case "top bit":
			p[i].Vars, p[i].Value = ^uint32(1<<7), p[i].Value&^(1<<7)
		case "mixed":
			p[i].Vars = rapid.Uint32().Draw(t, "variables")
			p[i].Negated = rapid.Uint32().Draw(t, "negated") & p[i].Vars
		}
	}
	return p
}

// TestSHA256 checks digests of random messages with random constant bits, that the assignment
// satisfies the constraints, and that it equals the reference that works bit by bit.
func TestSHA256(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := randomPattern(t, rapid.IntRange(0, 40).Draw(t, "words"))
		var digest []gadget.Boolean
		var ref *bitwise
		sys := oneBlock(func(cs *r1cs.CS) {
			message := p.message(cs)
			before := cs.NumAux()
			digest = gadget.SHA256(cs, message)
			ref = &bitwise{skip: before}
		})
		var words [8]gadget.Word
		_, aux := checkHolds(t, sys, func(a *r1cs.Assigner) {
			p.assign(a)
			words = gadget.AssignSHA256(a, p)
		})
		want := sha256.Sum256(p.bytes())
		for i, w := range words {
			if w.Value != binary.BigEndian.Uint32(want[4*i:]) {
				t.Fatalf("word %d of the digest is %08x, want %x", i, w.Value, want)
			}
		}
		for i, b := range digest {
			if valueOf(b, aux) != (want[i/8]>>(7-i%8)&1 == 1) {
				t.Fatalf("bit %d of the digest's variables is wrong", i)
			}
		}
		ref.sha256(p)
		if got := bitsOf(aux[ref.skip:]); !slices.Equal(got, ref.made) {
			t.Fatal("assignment by words differs from the one by bits")
		}
	})
}

func TestSHA256ConstraintsHoldEachVariable(t *testing.T) {
	p := make(pattern, 16)
	for i := range p {
		p[i] = gadget.VariableWord(uint32(i) * 0x9e3779b9)
	}
	p[7].Vars, p[15].Vars = ^uint32(1<<7), ^uint32(1<<7)
	sys := oneBlock(func(cs *r1cs.CS) { gadget.SHA256(cs, p.message(cs)) })
	inputs, aux := checkHolds(t, sys, func(a *r1cs.Assigner) {
		p.assign(a)
		gadget.AssignSHA256(a, p)
	})
	checkHeld(t, sys, inputs, aux, 0)
}

func TestAssignSHA256DoesNotAllocate(t *testing.T) {
	p := make(pattern, 16)
	for i := range p {
		p[i] = gadget.VariableWord(uint32(i))
	}
	words := make([]uint64, 1024)
	if n := testing.AllocsPerRun(10, func() {
		a := r1cs.NewAssigner(words, len(words)*64, nil, nil)
		gadget.AssignSHA256(&a, p)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// valueOf is the value of a truth value in a block that does not repeat.
func valueOf(b gadget.Boolean, aux []fr.Element) bool {
	if v, ok := b.IsConstant(); ok {
		return v
	}
	bit, negated, _ := b.Bit()
	return aux[bit.Var.Index()].IsOne() != negated
}

func bitsOf(values []fr.Element) []bool {
	out := make([]bool, len(values))
	for i := range values {
		out[i] = values[i].IsOne()
	}
	return out
}

// BenchmarkAssignSHA256 is one compression of variables and one of padding; the metric is for both.
func BenchmarkAssignSHA256(b *testing.B) {
	var p [16]gadget.Word
	for i := range p {
		p[i] = gadget.VariableWord(uint32(i) * 0x9e3779b9)
	}
	words := make([]uint64, 2048)
	b.ReportAllocs()
	for b.Loop() {
		a := r1cs.NewAssigner(words, len(words)*64, nil, nil)
		gadget.AssignSHA256(&a, p[:])
	}
}

// BenchmarkSHA256 builds the constraints of the same.
func BenchmarkSHA256(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		oneBlock(func(cs *r1cs.CS) { gadget.SHA256(cs, gadget.AreBits(gadget.AllocBits(cs, 512))) })
	}
}
