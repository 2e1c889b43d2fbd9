package gadget

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// Num is a variable with a field element as its value.
type Num struct{ Var r1cs.Var }

// AllocNum makes an auxiliary variable of any value. Its assignment is one [r1cs.Assigner.Element].
func AllocNum(cs *r1cs.CS) Num { return Num{cs.AllocElement()} }

// AllocInputNum makes a public input. Its assignment is one [r1cs.Assigner.Input].
func AllocInputNum(cs *r1cs.CS) Num { return Num{cs.AllocInput()} }

// AllocNums makes n auxiliary variables.
func AllocNums(cs *r1cs.CS, n int) []Num {
	out := make([]Num, n)
	for i := range out {
		out[i] = AllocNum(cs)
	}
	return out
}

// LC is the linear combination 1*n.
func (n Num) LC() r1cs.LC { return r1cs.LCOf(n.Var) }

// Inputize makes a public input that is constrained to equal n: input * 1 = n. Its assignment is
// one [r1cs.Assigner.Input].
func (n Num) Inputize(cs *r1cs.CS) Num {
	in := AllocInputNum(cs)
	cs.Enforce(in.LC(), oneLC, n.LC())
	return in
}

// EnforceEqual constrains a * 1 = b.
func EnforceEqual(cs *r1cs.CS, a, b Num) { cs.Enforce(a.LC(), oneLC, b.LC()) }

// EnforceSum constrains (a + b) * 1 = sum.
func EnforceSum(cs *r1cs.CS, a, b, sum Num) {
	cs.Enforce(r1cs.LCOf(a.Var, b.Var), oneLC, sum.LC())
}

// AddNum makes the sum of a and b. Its assignment is one [r1cs.Assigner.Element].
func AddNum(cs *r1cs.CS, a, b Num) Num {
	sum := AllocNum(cs)
	EnforceSum(cs, a, b, sum)
	return sum
}

// oneLC is the combination 1*one. Combinations handed to Enforce are only read.
var oneLC = r1cs.LCOf(r1cs.One)

// powersOfTwo are 2^0 to 2^254.
var powersOfTwo = func() (p [fr.Bits]fr.Element) {
	p[0].SetOne()
	for i := 1; i < len(p); i++ {
		p[i].Double(&p[i-1])
	}
	return p
}()
