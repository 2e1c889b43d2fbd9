package gadget_test

import (
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/gadget"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

// operand is a truth value of each form: a constant, a bit, a negated bit.
type operand struct {
	form  string
	value bool
}

func operands() []operand {
	var out []operand
	for _, form := range []string{"constant", "bit", "negated"} {
		out = append(out, operand{form, false}, operand{form, true})
	}
	return out
}

func (o operand) make(cs *r1cs.CS) gadget.Boolean {
	switch o.form {
	case "constant":
		return gadget.Constant(o.value)
	case "bit":
		return gadget.Is(gadget.AllocBit(cs))
	default:
		return gadget.Is(gadget.AllocBit(cs)).Not()
	}
}

func (o operand) assign(a *r1cs.Assigner) {
	if o.form != "constant" {
		a.Bit(o.value != (o.form == "negated"))
	}
}

// TestXorAndAnd holds both operations against the truth table for operands of every form. The result
// is compared in the circuit, where it is exposed as a public input; the only other value that the
// operation's variable could have must be refused.
func TestXorAndAnd(t *testing.T) {
	for name, op := range map[string]struct {
		gadget func(cs *r1cs.CS, a, b gadget.Boolean) gadget.Boolean
		truth  func(a, b bool) bool
	}{
		"xor": {gadget.Xor, func(a, b bool) bool { return a != b }},
		"and": {gadget.And, func(a, b bool) bool { return a && b }},
	} {
		for _, x := range operands() {
			for _, y := range operands() {
				made := 0
				sys := oneBlock(func(cs *r1cs.CS) {
					a, b := x.make(cs), y.make(cs)
					before := cs.NumAux()
					result := op.gadget(cs, a, b)
					made = cs.NumAux() - before
					gadget.PackIntoInputs(cs, []gadget.Boolean{result})
				})
				if want := 0; x.form == "constant" || y.form == "constant" {
					if made != want {
						t.Errorf("%s of %v and %v makes %d variables", name, x, y, made)
					}
				} else if made != 1 {
					t.Errorf("%s of %v and %v makes %d variables", name, x, y, made)
				}
				result := op.truth(x.value, y.value)
				holds := func(made0, public bool) bool {
					inputs, aux := assigned(t, sys, func(a *r1cs.Assigner) {
						x.assign(a)
						y.assign(a)
						if made == 1 {
							a.Bit(made0)
						}
						a.Input(element(public))
					})
					return satisfied(sys, inputs, aux) == nil
				}
				if !holds(false, result) && !holds(true, result) {
					t.Errorf("%s of %v and %v: %v is refused", name, x, y, result)
				}
				if holds(false, !result) || holds(true, !result) {
					t.Errorf("%s of %v and %v: %v is accepted", name, x, y, !result)
				}
			}
		}
	}
}

// TestAllocBit refuses every value of a bit but 0 and 1.
func TestAllocBit(t *testing.T) {
	sys := oneBlock(func(cs *r1cs.CS) { gadget.AllocBit(cs) })
	for v := range 4 {
		var e fr.Element
		e.SetUint64(uint64(v))
		if holds := satisfied(sys, []fr.Element{fr.One()}, []fr.Element{e}) == nil; holds != (v < 2) {
			t.Errorf("a bit of value %d: accepted is %v", v, holds)
		}
	}
}

func element(v bool) *fr.Element {
	var e fr.Element
	if v {
		e.SetOne()
	}
	return &e
}
