package r1cs

import "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

// Term is a coefficient times a variable.
type Term struct {
	Coeff fr.Element
	Var   Var
}

// LC is a linear combination. Terms may be in any order and name a variable more than once; the
// builder brings them into canonical form.
type LC []Term

var one, minusOne = fr.One(), func() fr.Element {
	e := fr.One()
	e.Neg(&e)
	return e
}()

// LCOf is the sum of vars.
func LCOf(vars ...Var) LC {
	lc := make(LC, len(vars))
	for i, v := range vars {
		lc[i] = Term{one, v}
	}
	return lc
}

// Constant is the constant c.
func Constant(c fr.Element) LC { return LC{{c, One}} }

// Add returns lc + v. Like append it may reuse lc's memory.
func (lc LC) Add(v Var) LC { return append(lc, Term{one, v}) }

// Sub returns lc - v. Like append it may reuse lc's memory.
func (lc LC) Sub(v Var) LC { return append(lc, Term{minusOne, v}) }

// AddScaled returns lc + c*v. Like append it may reuse lc's memory.
func (lc LC) AddScaled(c fr.Element, v Var) LC { return append(lc, Term{c, v}) }

// AddConstant returns lc + c. Like append it may reuse lc's memory.
func (lc LC) AddConstant(c fr.Element) LC { return append(lc, Term{c, One}) }

// AddLC returns lc + c*other. Like append it may reuse lc's memory; other is only read.
func (lc LC) AddLC(c fr.Element, other LC) LC {
	if c == one {
		return append(lc, other...)
	}
	for _, t := range other {
		t.Coeff.Mul(&t.Coeff, &c)
		lc = append(lc, t)
	}
	return lc
}

// Scale multiplies every coefficient of lc by c, in place.
func (lc LC) Scale(c fr.Element) LC {
	for i := range lc {
		lc[i].Coeff.Mul(&lc[i].Coeff, &c)
	}
	return lc
}

// canonical sorts the terms, merges equal variables and drops zero coefficients, in place.
func (lc LC) canonical() LC {
	sorted := true
	for i := 1; i < len(lc); i++ {
		if lc[i-1].Var >= lc[i].Var {
			sorted = false
			break
		}
	}
	if !sorted {
		lc.sort()
	}
	n := 0
	for i := range lc {
		if n > 0 && lc[n-1].Var == lc[i].Var {
			lc[n-1].Coeff.Add(&lc[n-1].Coeff, &lc[i].Coeff)
			continue
		}
		if n > 0 && lc[n-1].Coeff.IsZero() {
			n--
		}
		lc[n] = lc[i]
		n++
	}
	if n > 0 && lc[n-1].Coeff.IsZero() {
		n--
	}
	return lc[:n]
}
