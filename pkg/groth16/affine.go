package groth16

import (
	"unsafe"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
)

// Adding two affine points takes an inversion, which costs as much as a hundred multiplications;
// inverting many numbers at once takes three multiplications each and a single inversion
// (Montgomery's trick). So many independent affine additions at once are the cheapest additions
// there are: about six multiplications, where the best of projective coordinates take ten.

// field is the coordinate field: the base field for G1, its quadratic extension for G2.
type field[F any] interface {
	*F
	Add(a, b *F) *F
	Sub(a, b *F) *F
	Mul(a, b *F) *F
	Square(a *F) *F
	Double(a *F) *F
	Neg(a *F) *F
	Inverse(a *F) *F
	Equal(a *F) bool
	IsZero() bool
	SetOne() *F
}

// point is an affine point, at infinity if both coordinates are zero. Its layout is that of
// bls12381.G1Affine and G2Affine.
type point[F any] struct{ X, Y F }

type (
	pointG1 = point[fp.Element]
	pointG2 = point[bls12381.E2]
)

func isInfinity[F any, P field[F]](p *point[F]) bool { return P(&p.X).IsZero() && P(&p.Y).IsZero() }

// asPointsG1 is the same memory as generic points.
func asPointsG1(p []bls12381.G1Affine) []pointG1 {
	return unsafe.Slice((*pointG1)(unsafe.Pointer(unsafe.SliceData(p))), len(p)) //nolint:gosec // same layout
}

// asPointsG2 is the same memory as generic points.
func asPointsG2(p []bls12381.G2Affine) []pointG2 {
	return unsafe.Slice((*pointG2)(unsafe.Pointer(unsafe.SliceData(p))), len(p)) //nolint:gosec // same layout
}

// batchPoints is how many additions share an inversion: enough for the inversion not to count, few
// enough for their numbers to stay in the second-level cache.
const batchPoints = 1024

// adder adds points, up to batchPoints at once. It is used by one goroutine.
type adder[F any, P field[F]] struct {
	diff, prod []F
	t          [4]F // temporaries: generic calls would move locals to the heap
}

func newAdder[F any, P field[F]]() *adder[F, P] {
	return &adder[F, P]{diff: make([]F, batchPoints), prod: make([]F, batchPoints)}
}

// add adds to dst[i] the point base[k-1] if idx[i] = k > 0, minus base[-k-1] if k < 0, and nothing
// if k = 0. It overwrites idx. dst and base must not overlap.
func (a *adder[F, P]) add(dst, base []point[F], idx []int32) {
	for len(dst) > batchPoints {
		a.add(dst[:batchPoints], base, idx[:batchPoints])
		dst, idx = dst[batchPoints:], idx[batchPoints:]
	}
	acc := P(&a.t[0])
	acc.SetOne()
	some := false
	for i, k := range idx {
		if k == 0 {
			continue
		}
		p := &base[max(k, -k)-1]
		d := &dst[i]
		diff := P(&a.diff[i])
		diff.Sub(&p.X, &d.X)
		if diff.IsZero() || isInfinity[F, P](d) || isInfinity[F, P](p) {
			a.addSpecial(d, p, k < 0)
			idx[i] = 0
			continue
		}
		a.prod[i] = a.t[0]
		acc.Mul(&a.t[0], &a.diff[i])
		some = true
	}
	if !some {
		return
	}
	acc.Inverse(&a.t[0])
	lambda, u, x := P(&a.t[1]), P(&a.t[2]), P(&a.t[3])
	for i := len(idx) - 1; i >= 0; i-- {
		k := idx[i]
		if k == 0 {
			continue
		}
		p := &base[max(k, -k)-1]
		d := &dst[i]
		lambda.Mul(&a.t[0], &a.prod[i]) // 1 / (p.X - d.X)
		acc.Mul(&a.t[0], &a.diff[i])
		if k > 0 {
			u.Sub(&p.Y, &d.Y)
		} else {
			u.Add(&p.Y, &d.Y)
			u.Neg(&a.t[2])
		}
		lambda.Mul(&a.t[1], &a.t[2])
		x.Square(&a.t[1])
		x.Sub(&a.t[3], &d.X)
		x.Sub(&a.t[3], &p.X)
		u.Sub(&d.X, &a.t[3])
		u.Mul(&a.t[2], &a.t[1])
		P(&d.Y).Sub(&a.t[2], &d.Y)
		d.X = a.t[3]
	}
}

// addSpecial adds p or -p to d where the formula of add does not hold: a point is at infinity, or
// both have the same x.
func (a *adder[F, P]) addSpecial(d, p *point[F], neg bool) {
	q := *p
	if neg {
		P(&q.Y).Neg(&p.Y)
	}
	switch {
	case isInfinity[F, P](p):
	case isInfinity[F, P](d):
		*d = q
	case P(&q.Y).Equal(&d.Y) && !P(&q.Y).IsZero():
		double[F, P](d)
	default:
		*d = point[F]{}
	}
}

// double doubles an affine point that is not at infinity and not of order two.
func double[F any, P field[F]](d *point[F]) {
	var lambda, t, x F
	P(&lambda).Square(&d.X)
	P(&t).Double(&lambda)
	P(&lambda).Add(&lambda, &t) // 3x²
	P(&t).Double(&d.Y)
	P(&t).Inverse(&t)
	P(&lambda).Mul(&lambda, &t)
	P(&x).Square(&lambda)
	P(&x).Sub(&x, &d.X)
	P(&x).Sub(&x, &d.X)
	P(&t).Sub(&d.X, &x)
	P(&t).Mul(&t, &lambda)
	P(&d.Y).Sub(&t, &d.Y)
	d.X = x
}

// summer adds up single points: each addition goes to another lane, and the lanes are added at the
// end. It is used by one goroutine.
type summer[F any, P field[F]] struct {
	add  *adder[F, P]
	base []point[F]
	lane []point[F]
	idx  []int32
	n    int
}

// newSummer adds points of base.
func newSummer[F any, P field[F]](base []point[F]) *summer[F, P] {
	return &summer[F, P]{
		add: newAdder[F, P](), base: base,
		lane: make([]point[F], batchPoints), idx: make([]int32, batchPoints),
	}
}

// pick adds base[i].
func (s *summer[F, P]) pick(i int) {
	s.idx[s.n] = int32(i) + 1 //nolint:gosec // sections have below 2^28 points
	s.n++
	if s.n == len(s.idx) {
		s.flush()
	}
}

func (s *summer[F, P]) flush() {
	s.add.add(s.lane[:s.n], s.base, s.idx[:s.n])
	s.n = 0
}

// sum is the sum of what was picked. The summer must not be used afterwards.
func (s *summer[F, P]) sum() point[F] {
	s.flush()
	return sumAll(s.add, s.lane)
}
