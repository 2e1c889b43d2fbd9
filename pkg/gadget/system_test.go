package gadget_test

import (
	"context"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/r1cs"
	"github.com/proofmill/proofmill/pkg/witness"
)

// tester is what testing.T and rapid.T have in common.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// oneBlock is the system of one block.
func oneBlock(build func(cs *r1cs.CS)) *r1cs.System {
	b := r1cs.NewBuilder()
	b.Block("gadget", 1, build)
	return b.System()
}

// assigned assigns a one-block system and returns its inputs and auxiliary values.
func assigned(t tester, sys *r1cs.System, assign func(a *r1cs.Assigner)) (inputs, aux []fr.Element) {
	t.Helper()
	w := witness.New(sys)
	if err := w.Assign(0, 0, assign); err != nil {
		t.Fatal(err)
	}
	aux = make([]fr.Element, sys.NumAux)
	w.ExpandInstance(0, 0, aux)
	return w.Inputs, aux
}

// checkHolds checks that a gadget's own assignment satisfies its constraints and returns the
// values.
func checkHolds(t tester, sys *r1cs.System, assign func(a *r1cs.Assigner)) (inputs, aux []fr.Element) {
	t.Helper()
	inputs, aux = assigned(t, sys, assign)
	if err := satisfied(sys, inputs, aux); err != nil {
		t.Fatal(err)
	}
	return inputs, aux
}

func satisfied(sys *r1cs.System, inputs, aux []fr.Element) error {
	return sys.Satisfied(context.Background(), inputs, aux)
}

// checkHeld changes variables of a satisfying assignment, one at a time: some constraint must
// notice, except for the variables before first, which the gadget takes as given.
func checkHeld(t *testing.T, sys *r1cs.System, inputs, aux []fr.Element, first int) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(first, len(aux)-1).Draw(t, "variable")
		kept := aux[i]
		defer func() { aux[i] = kept }()
		var d fr.Element
		d.SetUint64(rapid.Uint64Min(1).Draw(t, "difference"))
		aux[i].Add(&aux[i], &d)
		if satisfied(sys, inputs, aux) == nil {
			t.Fatalf("variable %d was changed by %s and all constraints hold", i, d.String())
		}
	})
}
