package gpu

import (
	"context"
	"fmt"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"

	"github.com/proofmill/proofmill/pkg/groth16"
)

// Bytes of a point in memory.
const (
	g1Bytes = 96
	g2Bytes = 192
)

// Points are where a key's points come from: an open parameter file ([groth16.Params]) or a key in memory ([KeyPoints]). ReadG1 and
// ReadG2 are called by several goroutines at once.
type Points interface {
	VerifyingKey() *groth16.VerifyingKey
	Count(s groth16.Section) int
	ReadG1(s groth16.Section, from int, dst []bls12381.G1Affine) error
	ReadG2(from int, dst []bls12381.G2Affine) error
}

var _ Points = (*groth16.Params)(nil)

// KeyPoints are the points of a key in memory.
type KeyPoints struct{ Key *groth16.Key }

// VerifyingKey implements [Points].
func (k KeyPoints) VerifyingKey() *groth16.VerifyingKey { return k.Key.VK }

// Count implements [Points].
func (k KeyPoints) Count(s groth16.Section) int {
	if s == groth16.SectionBG2 {
		return len(k.Key.BG2)
	}
	return len(k.section(s))
}

func (k KeyPoints) section(s groth16.Section) []bls12381.G1Affine {
	switch s {
	case groth16.SectionH:
		return k.Key.H
	case groth16.SectionL:
		return k.Key.L
	case groth16.SectionA:
		return k.Key.A
	default:
		return k.Key.BG1
	}
}

// ReadG1 implements [Points].
func (k KeyPoints) ReadG1(s groth16.Section, from int, dst []bls12381.G1Affine) error {
	copy(dst, k.section(s)[from:])
	return nil
}

// ReadG2 implements [Points].
func (k KeyPoints) ReadG2(from int, dst []bls12381.G2Affine) error {
	copy(dst, k.Key.BG2[from:])
	return nil
}

// Key is a parameter file's points on a device. It is immutable and may be used by any number of goroutines.
type Key struct {
	d         *Device
	vk        *groth16.VerifyingKey
	counts    groth16.Counts
	memory    *buffer
	tables    *buffer // of H
	h         bases   // in the order of the quotient's coefficients: bit-reversed, with a place for a last one that is not
	l, a, bg1 uintptr
	bg2       uintptr
}

// KeyOptions are the choices of a key. The zero value will do.
type KeyOptions struct {
	// Copies is how many tables of the points of H the device holds: the points, and multiples of them that make a proof's longest sum
	// some eighth shorter. Each takes as much memory as the points, and seconds to make for the largest circuits. 1 is the points
	// alone; 0 leaves it to the memory: up to four for large circuits, as long as the prover keeps what it needs.
	Copies int
	// Prover is what the prover of the key will be made with. It matters only where Copies is 0.
	Prover ProverOptions
}

// NewKey brings a key for a circuit to the device under a name for the ledger. Points of another circuit are an error that wraps
// [groth16.ErrParamsForeign], as far as counts tell. It blocks until done or ctx ends. Close it after use.
func (c *Circuit) NewKey(ctx context.Context, name string, from Points, opts KeyOptions) (*Key, error) {
	k := &Key{d: c.d, vk: from.VerifyingKey()}
	k.counts = groth16.Counts{
		IC: len(k.vk.IC), H: from.Count(groth16.SectionH), L: from.Count(groth16.SectionL), A: from.Count(groth16.SectionA),
		BG1: from.Count(groth16.SectionBG1), BG2: from.Count(groth16.SectionBG2),
	}
	want := groth16.Counts{
		IC: c.sys.NumInputs, H: int(c.domain.size()) - 1, L: c.l.count, A: c.a.count, BG1: c.b.count, BG2: c.b.count,
	}
	if k.counts != want {
		return nil, fmt.Errorf("key %s: %w: it has %s, the circuit needs %s", name, groth16.ErrParamsForeign, k.counts, want)
	}
	if err := k.load(ctx, name, from, c, opts); err != nil {
		k.Close()
		return nil, fmt.Errorf("key %s: %w", name, err)
	}
	return k, nil
}

func (k *Key) load(ctx context.Context, name string, from Points, c *Circuit, opts KeyOptions) (err error) {
	logN := c.domain.logN
	var plan arena
	offsets := [...]int64{
		plan.add(g1Bytes * int64(k.counts.L)), plan.add(g1Bytes * int64(k.counts.A)),
		plan.add(g1Bytes * int64(k.counts.BG1)), plan.add(g2Bytes * int64(k.counts.BG2)),
	}
	if k.memory, err = k.d.alloc("key "+name, plan.size); err != nil {
		return err
	}
	k.l, k.a = k.memory.at(offsets[0]), k.memory.at(offsets[1])
	k.bg1, k.bg2 = k.memory.at(offsets[2]), k.memory.at(offsets[3])
	if err := k.reserveTables(c, name, opts); err != nil {
		return err
	}
	f, err := newFeed(k.d, "key "+name, (plan.size+g1Bytes<<logN)/4)
	if err != nil {
		return err
	}
	defer f.free()
	readG1 := func(section groth16.Section) func(int, []bls12381.G1Affine) error {
		return func(first int, dst []bls12381.G1Affine) error { return from.ReadG1(section, first, dst) }
	}
	reversed := func(b *feedBuffer, first int, p []bls12381.G1Affine) error {
		if err := copyIn(b.stream, b.staging.addr, p); err != nil {
			return err
		}
		return k.d.call("order points", func(e *callError) int32 {
			return k.d.lib.fn.pointsReverse(b.stream.handle, b.staging.addr, k.h.points, int32(logN), uint32(first), uint32(len(p)), e) //nolint:gosec // counts and sizes are far below the limit
		})
	}
	if err := feedPoints(ctx, f, k.counts.H, readG1(groth16.SectionH), reversed); err != nil {
		return err
	}
	if err := k.copyTables(ctx); err != nil {
		return err
	}
	for _, t := range []struct {
		section groth16.Section
		count   int
		to      uintptr
	}{{groth16.SectionL, k.counts.L, k.l}, {groth16.SectionA, k.counts.A, k.a}, {groth16.SectionBG1, k.counts.BG1, k.bg1}} {
		place := func(b *feedBuffer, first int, p []bls12381.G1Affine) error {
			return copyIn(b.stream, t.to+uintptr(g1Bytes*first), p)
		}
		if err := feedPoints(ctx, f, t.count, readG1(t.section), place); err != nil {
			return err
		}
	}
	place := func(b *feedBuffer, first int, p []bls12381.G2Affine) error {
		return copyIn(b.stream, k.bg2+uintptr(g2Bytes*first), p)
	}
	return feedPoints(ctx, f, k.counts.BG2, from.ReadG2, place)
}

// Bytes is the device memory of the key.
func (k *Key) Bytes() int64 { return k.memory.bytes + k.tables.bytes }

// Copies is how many tables of the points of H the device holds.
func (k *Key) Copies() int { return k.h.copies }

// VerifyingKey is the part of the key that verifies its proofs.
func (k *Key) VerifyingKey() *groth16.VerifyingKey { return k.vk }

// Close frees the device memory.
func (k *Key) Close() {
	k.tables.free()
	k.memory.free()
}
