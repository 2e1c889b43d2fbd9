package gpu

import (
	"errors"
	"fmt"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/witness"
)

// slotPlan is where the arrays of a proof lie in its memory. Two places are used twice: the product of A w and B w and the scratch
// memory of the sums follow each other, and so do the quotient and the sorted values of a section.
type slotPlan struct {
	arena
	inputs, words, elements, aux    int64
	a, b, c                         int64
	scratch, ones, indices, scalars int64
	found                           int64
	capacity                        int // of indices and scalars
}

// capacity is how many points of a circuit's section at most have a variable that is neither zero nor one.
func (c *Circuit) capacity(points int) int { return min(points, c.dense+c.sys.NumInputs) }

// planSlot lays out a proof's memory, given the scratch memory of the sums.
func planSlot(c *Circuit, scratch int64) slotPlan {
	values := fr.Bytes * c.domain.size()
	most := max(c.l.count, c.a.count, c.b.count)
	p := slotPlan{capacity: c.capacity(most)}
	p.inputs = p.add(fr.Bytes * int64(c.sys.NumInputs))
	p.words = p.add(8 * int64(c.layout.Words))
	p.elements = p.add(fr.Bytes * int64(c.layout.Elements))
	p.aux = p.add(fr.Bytes * int64(c.sys.NumAux))
	p.found = p.add(4)

	var sorted arena
	ones, indices, scalars := sorted.add(4*int64((most+31)/32)), sorted.add(4*int64(p.capacity)), sorted.add(fr.Bytes*int64(p.capacity))
	p.a = p.add(max(values, sorted.size))
	p.ones, p.indices, p.scalars = p.a+ones, p.a+indices, p.a+scalars

	var product arena
	b, cc := product.add(values), product.add(values)
	p.scratch = p.add(max(product.size, scratch))
	p.b, p.c = p.scratch+b, p.scratch+cc
	return p
}

// scratchWithin is the scratch memory that a proof may have if inFlight proofs share an amount of memory. Less than 1 is none.
func scratchWithin(c *Circuit, memory int64, inFlight int) int64 {
	// The scratch memory lies behind everything else, and each array is rounded up.
	return memory/int64(inFlight)/alignment*alignment - planSlot(c, 0).scratch
}

// slot is the stream and memory of one proof in flight.
type slot struct {
	stream *stream
	memory *buffer

	inputs, words, elements, aux    uintptr
	a, b, c                         uintptr
	scratch, ones, indices, scalars uintptr
	found                           uintptr
	capacity                        int
}

func (d *Device) newSlot(name string, p *slotPlan) (s *slot, err error) {
	s = &slot{capacity: p.capacity}
	if s.memory, err = d.alloc("prover "+name, p.size); err != nil {
		return s, err
	}
	for to, offset := range map[*uintptr]int64{
		&s.inputs: p.inputs, &s.words: p.words, &s.elements: p.elements, &s.aux: p.aux, &s.a: p.a, &s.b: p.b, &s.c: p.c,
		&s.scratch: p.scratch, &s.ones: p.ones, &s.indices: p.indices, &s.scalars: p.scalars, &s.found: p.found,
	} {
		*to = s.memory.at(offset)
	}
	s.stream, err = d.newStream()
	return s, err
}

func (s *slot) free() {
	s.stream.free()
	s.memory.free()
}

func (s *slot) upload(w *witness.Witness) error {
	return errors.Join(copyIn(s.stream, s.inputs, w.Inputs), copyIn(s.stream, s.words, w.Words), copyIn(s.stream, s.elements, w.Elements))
}

// sumSection is the sum of a section's points times their variables, in two parts.
func sumSection[P any](s *slot, c *Circuit, list *pointList, points uintptr, rest *multiplier[P], ones *adder[P]) (out [2]P, err error) {
	d := c.d
	err = d.call("sort values", func(e *callError) int32 {
		return d.lib.fn.choose(s.stream.handle, list.variables, uint32(list.count), s.inputs, s.aux, s.ones, s.indices, s.scalars, s.found, //nolint:gosec // counts and sizes are far below the limit
			uint32(s.capacity), e) //nolint:gosec // counts and sizes are far below the limit
	})
	if err != nil {
		return out, err
	}
	var found [1]uint32
	if err := errors.Join(copyOut(s.stream, found[:], s.found), s.stream.wait()); err != nil {
		return out, err
	}
	if int(found[0]) > c.capacity(list.count) {
		return out, fmt.Errorf("%d values are neither zero nor one, the circuit has room for %d", found[0], c.capacity(list.count))
	}
	if out[0], err = ones.run(s.stream, points, s.ones, list.count, s.scratch); err != nil {
		return out, err
	}
	out[1], err = rest.run(s.stream, s.scalars, s.indices, int(found[0]), s.scratch)
	return out, err
}

// quotient computes the coefficients of the quotient into a.
func (c *Circuit) quotient(s *stream, a, b, product uintptr) error {
	return c.d.call("transforms", func(e *callError) int32 {
		return c.d.lib.fn.quotient(c.domain.handle, s.handle, c.domain.tables.addr, a, b, product, e)
	})
}

// plans are the sums of a proof. They are shared by the proofs in flight.
type plans struct {
	h, l, a, b1 *multiplier[bls12381.G1Affine]
	b2          *multiplier[bls12381.G2Affine]
	ones1       *adder[bls12381.G1Affine]
	ones2       *adder[bls12381.G2Affine]
}

// make plans the sums with at most budget bytes of scratch memory.
func (p *plans) make(c *Circuit, k *Key, budget int64) (err error) {
	g1 := func(to **multiplier[bls12381.G1Affine], b bases, scalars int) {
		if err == nil {
			*to, err = newMultiplier(c.d, inG1, b, max(scalars, 1), budget)
		}
	}
	g1(&p.h, k.h, k.h.count)
	g1(&p.l, bases{points: k.l, count: c.l.count}, c.capacity(c.l.count))
	g1(&p.a, bases{points: k.a, count: c.a.count}, c.capacity(c.a.count))
	g1(&p.b1, bases{points: k.bg1, count: c.b.count}, c.capacity(c.b.count))
	if err != nil {
		return err
	}
	if p.b2, err = newMultiplier(c.d, inG2, bases{points: k.bg2, count: c.b.count}, max(c.capacity(c.b.count), 1), budget); err != nil {
		return err
	}
	if p.ones1, err = newAdder(c.d, inG1, max(c.l.count, c.a.count, c.b.count)); err != nil {
		return err
	}
	p.ones2, err = newAdder(c.d, inG2, c.b.count)
	return err
}

// scratch is the scratch memory that the largest sum needs.
func (p *plans) scratch() int64 {
	return max(p.h.scratch, p.l.scratch, p.a.scratch, p.b1.scratch, p.b2.scratch, p.ones1.scratch, p.ones2.scratch)
}

func (p *plans) free() {
	for _, m := range []*multiplier[bls12381.G1Affine]{p.h, p.l, p.a, p.b1} {
		m.free()
	}
	p.b2.free()
	p.ones1.free()
	p.ones2.free()
}
