package groth16

import (
	"math/big"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// reference is Groth16 by its definition, for someone who knows the secrets: polynomials are
// interpolated point by point, and every point of keys and proofs is a scalar times a generator.
type reference struct {
	sys     *r1cs.System
	toxic   *Toxic
	n       int
	roots   []fr.Element
	a, b, c []fr.Element // each variable's polynomials at tau, inputs first
}

func newReference(sys *r1cs.System, toxic *Toxic) *reference {
	m := &reference{sys: sys, toxic: toxic, n: 1}
	for m.n < sys.NumConstraints {
		m.n *= 2
	}
	w, err := fft.Generator(uint64(m.n))
	if err != nil {
		panic(err)
	}
	var root fr.Element
	root.SetOne()
	for range m.n {
		m.roots = append(m.roots, root)
		root.Mul(&root, &w)
	}
	m.a, m.b, m.c = m.columns(r1cs.MatrixA), m.columns(r1cs.MatrixB), m.columns(r1cs.MatrixC)
	return m
}

// basis is the Lagrange polynomial of point k at x: the product of (x - w^j) / (w^k - w^j).
func (m *reference) basis(k int, x *fr.Element) fr.Element {
	var num, den, t fr.Element
	num.SetOne()
	den.SetOne()
	for j := range m.roots {
		if j != k {
			num.Mul(&num, t.Sub(x, &m.roots[j]))
			den.Mul(&den, t.Sub(&m.roots[k], &m.roots[j]))
		}
	}
	den.Inverse(&den)
	num.Mul(&num, &den)
	return num
}

func (m *reference) columns(name r1cs.MatrixName) []fr.Element {
	out := make([]fr.Element, m.sys.NumInputs+m.sys.NumAux)
	var t fr.Element
	row := 0
	for k := range m.sys.Blocks {
		b := &m.sys.Blocks[k]
		for i := range b.Repeat {
			for r := range b.Rows {
				l := m.basis(row, &m.toxic.Tau)
				row++
				from, to := b.Matrix(name).Row(r)
				for k := from; k < to; k++ {
					v := b.Matrix(name).Vars[k]
					at := b.Position(v, i)
					if v.IsAux() {
						at += m.sys.NumInputs
					}
					out[at].Add(&out[at], t.Mul(&l, &m.sys.Coeffs[b.Matrix(name).Coeff[k]]))
				}
			}
		}
	}
	for i := range m.sys.NumInputs {
		if name == r1cs.MatrixA {
			l := m.basis(row, &m.toxic.Tau)
			out[i].Add(&out[i], &l)
		}
		row++
	}
	return out
}

// zAt is the product of (x - root) over the domain.
func (m *reference) zAt(x *fr.Element) fr.Element {
	var z, t fr.Element
	z.SetOne()
	for i := range m.roots {
		z.Mul(&z, t.Sub(x, &m.roots[i]))
	}
	return z
}

// ext is (beta a + alpha b + c) / divisor of variable i.
func (m *reference) ext(i int, divisor *fr.Element) fr.Element {
	var e, t fr.Element
	e.Mul(&m.toxic.Beta, &m.a[i])
	e.Add(&e, t.Mul(&m.toxic.Alpha, &m.b[i]))
	e.Add(&e, &m.c[i])
	return *e.Div(&e, divisor)
}

// file is the whole parameter file.
func (m *reference) file() []byte {
	t := m.toxic
	vk := &VerifyingKey{
		AlphaG1: mulG1(&t.Alpha), BetaG1: mulG1(&t.Beta), BetaG2: mulG2(&t.Beta),
		GammaG2: mulG2(&t.Gamma), DeltaG1: mulG1(&t.Delta), DeltaG2: mulG2(&t.Delta),
	}
	var h, l, a, b []fr.Element
	for i := range m.n - 1 {
		z := m.zAt(&t.Tau)
		var p fr.Element
		p.Exp(t.Tau, big.NewInt(int64(i)))
		z.Mul(&z, &p)
		z.Div(&z, &t.Delta)
		h = append(h, z)
	}
	for i := range m.a {
		if i < m.sys.NumInputs {
			e := m.ext(i, &t.Gamma)
			vk.IC = append(vk.IC, mulG1(&e))
		} else {
			l = append(l, m.ext(i, &t.Delta))
		}
		if !m.a[i].IsZero() {
			a = append(a, m.a[i])
		}
		if !m.b[i].IsZero() {
			b = append(b, m.b[i])
		}
	}
	out := vk.Bytes()
	count := func(n int) { out = append(out, byte(n>>24), byte(n>>16), byte(n>>8), byte(n)) }
	for _, s := range [][]fr.Element{h, l, a, b} {
		count(len(s))
		for i := range s {
			p := mulG1(&s[i])
			raw := p.RawBytes()
			out = append(out, raw[:]...)
		}
	}
	count(len(b))
	for i := range b {
		p := mulG2(&b[i])
		raw := p.RawBytes()
		out = append(out, raw[:]...)
	}
	return out
}

// proof is the proof of an assignment with randomness r and s.
func (m *reference) proof(inputs, aux []fr.Element, r, s *fr.Element) *Proof {
	w := append(append([]fr.Element(nil), inputs...), aux...)
	var a, b, c, l, t fr.Element
	for i := range w {
		a.Add(&a, t.Mul(&w[i], &m.a[i]))
		b.Add(&b, t.Mul(&w[i], &m.b[i]))
		c.Add(&c, t.Mul(&w[i], &m.c[i]))
		if i >= len(inputs) {
			e := m.ext(i, &m.toxic.Delta)
			l.Add(&l, t.Mul(&w[i], &e))
		}
	}
	// h(tau) z(tau) / delta, where h z = a b - c
	var h fr.Element
	h.Mul(&a, &b)
	h.Sub(&h, &c)
	h.Div(&h, &m.toxic.Delta)

	a.Add(&a, &m.toxic.Alpha)
	a.Add(&a, t.Mul(r, &m.toxic.Delta))
	b.Add(&b, &m.toxic.Beta)
	b.Add(&b, t.Mul(s, &m.toxic.Delta))
	var z fr.Element
	z.Add(&h, &l)
	z.Add(&z, t.Mul(&a, s))
	z.Add(&z, t.Mul(&b, r))
	t.Mul(r, s)
	z.Sub(&z, t.Mul(&t, &m.toxic.Delta))
	p := new(Proof)
	p.A, p.B, p.C = mulG1(&a), mulG2(&b), mulG1(&z)
	return p
}

// sumOfProducts is the sum of points times scalars, one by one.
func sumOfProducts(points []bls12381.G1Affine, scalars []fr.Element) (sum bls12381.G1Affine) {
	for i := range points {
		var p bls12381.G1Affine
		p.ScalarMultiplication(&points[i], scalars[i].BigInt(new(big.Int)))
		sum.Add(&sum, &p)
	}
	return sum
}
