package gpu

import (
	"math/big"
	"unsafe"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/groth16"
)

// group is one of the two groups of points, as the library's calls see it.
type group[P any] struct{ number int32 }

var (
	inG1 = group[bls12381.G1Affine]{groupG1}
	inG2 = group[bls12381.G2Affine]{groupG2}
)

// multiplier is a planned multi-scalar multiplication over fixed points.
type multiplier[P any] struct {
	d       *Device
	handle  uintptr
	scratch int64
}

// bases are the fixed points of a multi-scalar multiplication.
type bases struct {
	points uintptr
	count  int
	copies int // tables of count points, the original's included; 0 is 1
	bits   int // of the windows that the copies are for; 0, with one copy, lets the sizes decide
}

// newMultiplier plans sums of up to scalars terms over bases with at most budget bytes of scratch memory.
func newMultiplier[P any](d *Device, g group[P], b bases, scalars int, budget int64) (*multiplier[P], error) {
	m := &multiplier[P]{d: d}
	config := cMsmConfig{
		size: uint32(unsafe.Sizeof(cMsmConfig{})), group: g.number, bases: b.points, count: uint32(b.count), //nolint:gosec // counts and sizes are far below the limit
		copies: int32(max(b.copies, 1)), bits: int32(b.bits), //nolint:gosec // counts and sizes are far below the limit
		maxScalars: uint32(scalars), budget: uint64(budget), //nolint:gosec // counts and sizes are far below the limit
	}
	var scratch uint64
	err := d.call("plan sum", func(e *callError) int32 { return d.lib.fn.msmCreate(d.context, &config, &m.handle, &scratch, e) })
	m.scratch = int64(scratch)
	return m, err
}

// run is the sum of scalars (in Montgomery form) times points; indices names the points, 0 means the first count ones. It blocks.
func (m *multiplier[P]) run(s *stream, scalars, indices uintptr, count int, scratch uintptr) (sum P, err error) {
	out := bytesOf(unsafe.Slice(&sum, 1)) //nolint:gosec // memory that the library reads or writes
	err = m.d.call("multi-scalar multiplication", func(e *callError) int32 {
		return m.d.lib.fn.msmRun(m.handle, s.handle, scalars, indices, uint32(count), 1, scratch, &out[0], e) //nolint:gosec // counts and sizes are far below the limit
	})
	return sum, err
}

func (m *multiplier[P]) free() {
	if m != nil && m.handle != 0 {
		m.d.lib.fn.msmFree(m.handle)
		m.handle = 0
	}
}

// adder is a planned sum of points picked by bits.
type adder[P any] struct {
	d       *Device
	handle  uintptr
	scratch int64
}

func newAdder[P any](d *Device, g group[P], count int) (*adder[P], error) {
	a := &adder[P]{d: d}
	var scratch uint64
	err := d.call("plan sum of bits", func(e *callError) int32 {
		return d.lib.fn.sumCreate(d.context, g.number, uint32(count), &a.handle, &scratch, e) //nolint:gosec // counts and sizes are far below the limit
	})
	a.scratch = int64(scratch)
	return a, err
}

// run is the sum of the points whose bit is one. It blocks.
func (a *adder[P]) run(s *stream, points, bits uintptr, count int, scratch uintptr) (sum P, err error) {
	out := bytesOf(unsafe.Slice(&sum, 1)) //nolint:gosec // memory that the library reads or writes
	err = a.d.call("sum of bits", func(e *callError) int32 {
		return a.d.lib.fn.sumRun(a.handle, s.handle, points, bits, uint32(count), scratch, &out[0], e) //nolint:gosec // counts and sizes are far below the limit
	})
	return sum, err
}

func (a *adder[P]) free() {
	if a != nil && a.handle != 0 {
		a.d.lib.fn.sumFree(a.handle)
		a.handle = 0
	}
}

// results are the sums that come from the device; each of a, l, b1, b2 in two parts: the points whose variable is one, and the rest.
type results struct {
	h        bls12381.G1Affine
	l, a, b1 [2]bls12381.G1Affine
	b2       [2]bls12381.G2Affine
}

func addG1(p [2]bls12381.G1Affine) (sum bls12381.G1Jac) {
	sum.FromAffine(&p[0])
	return *sum.AddMixed(&p[1])
}

// finish computes the proof's points, as Groth16 defines them:
//
//	A = alpha + a + r delta
//	B = beta + b + s delta
//	C = h + l + s A + r B' - r s delta, where B' is B in G1
func (m *results) finish(vk *groth16.VerifyingKey, r, s *fr.Element) *groth16.Proof {
	var rs fr.Element
	rs.Mul(r, s)
	rr, ss, rrss := r.BigInt(new(big.Int)), s.BigInt(new(big.Int)), rs.BigInt(new(big.Int))
	var delta1, t bls12381.G1Jac
	delta1.FromAffine(&vk.DeltaG1)
	var delta2, b2 bls12381.G2Jac
	delta2.FromAffine(&vk.DeltaG2)

	a := addG1(m.a)
	a.AddMixed(&vk.AlphaG1)
	a.AddAssign(t.ScalarMultiplication(&delta1, rr))

	b2.ScalarMultiplication(&delta2, ss)
	b2.AddMixed(&m.b2[0])
	b2.AddMixed(&m.b2[1])
	b2.AddMixed(&vk.BetaG2)

	b1 := addG1(m.b1)
	b1.AddMixed(&vk.BetaG1)
	b1.AddAssign(t.ScalarMultiplication(&delta1, ss))

	c := addG1(m.l)
	c.AddMixed(&m.h)
	c.AddAssign(t.ScalarMultiplication(&a, ss))
	c.AddAssign(t.ScalarMultiplication(&b1, rr))
	c.SubAssign(t.ScalarMultiplication(&delta1, rrss))

	p := new(groth16.Proof)
	p.A.FromJacobian(&a)
	p.B.FromJacobian(&b2)
	p.C.FromJacobian(&c)
	return p
}
