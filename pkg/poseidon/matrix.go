package poseidon

import "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

// matrix is a dense square matrix, by rows.
type matrix [][]fr.Element

func newMatrix(n int) matrix {
	backing := make([]fr.Element, n*n)
	m := make(matrix, n)
	for i := range m {
		m[i] = backing[i*n : (i+1)*n : (i+1)*n]
	}
	return m
}

func identity(n int) matrix {
	m := newMatrix(n)
	for i := range m {
		m[i][i].SetOne()
	}
	return m
}

// cauchy is the MDS matrix 1/(x_i + y_j) with x = 0..n-1 and y = n..2n-1. It is symmetric.
func cauchy(n int) matrix {
	m := newMatrix(n)
	for i := range m {
		for j := range m {
			m[i][j].SetUint64(uint64(i + n + j)) //nolint:gosec // not negative
			m[i][j].Inverse(&m[i][j])
		}
	}
	return m
}

func (m matrix) mul(o matrix) matrix {
	r := newMatrix(len(m))
	var t fr.Element
	for i := range m {
		for j := range m {
			for k := range m {
				t.Mul(&m[i][k], &o[k][j])
				r[i][j].Add(&r[i][j], &t)
			}
		}
	}
	return r
}

// apply returns m times the column v.
func (m matrix) apply(v []fr.Element) []fr.Element {
	r := make([]fr.Element, len(m))
	var t fr.Element
	for i := range m {
		for j := range m {
			t.Mul(&m[i][j], &v[j])
			r[i].Add(&r[i], &t)
		}
	}
	return r
}

func (m matrix) transpose() matrix {
	r := newMatrix(len(m))
	for i := range m {
		for j := range m {
			r[j][i] = m[i][j]
		}
	}
	return r
}

// minor drops the first row and the first column.
func (m matrix) minor() matrix {
	r := newMatrix(len(m) - 1)
	for i := range r {
		copy(r[i], m[i+1][1:])
	}
	return r
}

// inverse is Gauss-Jordan elimination. It panics where m is singular, which no matrix met here is: minors of an MDS matrix are invertible.
func (m matrix) inverse() matrix {
	n := len(m)
	a, r := newMatrix(n), identity(n)
	for i := range m {
		copy(a[i], m[i])
	}
	var t, f fr.Element
	for col := range n {
		pivot := col
		for pivot < n && a[pivot][col].IsZero() {
			pivot++
		}
		if pivot == n {
			panic("poseidon: singular matrix")
		}
		a[col], a[pivot] = a[pivot], a[col]
		r[col], r[pivot] = r[pivot], r[col]
		f.Inverse(&a[col][col])
		for j := range n {
			a[col][j].Mul(&a[col][j], &f)
			r[col][j].Mul(&r[col][j], &f)
		}
		for i := range n {
			if i == col || a[i][col].IsZero() {
				continue
			}
			f = a[i][col]
			for j := range n {
				t.Mul(&a[col][j], &f)
				a[i][j].Sub(&a[i][j], &t)
				t.Mul(&r[col][j], &f)
				r[i][j].Sub(&r[i][j], &t)
			}
		}
	}
	return r
}
