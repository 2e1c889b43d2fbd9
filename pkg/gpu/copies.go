package gpu

import (
	"context"
	"errors"
	"fmt"
)

// A sum over copies of its points, each the points times a further power of two, has one set of buckets for as many windows as there are
// copies: fewer buckets are weighed, and fuller ones are summed.
const (
	mostCopies = 8  // that can be asked for
	autoCopies = 4  // more win less than their memory is worth
	copiedLogN = 22 // the smallest domain whose points are copied unasked: the sums of smaller ones are short anyway
)

// copyBits are the bits of the windows of a sum over copies of 2^logN points: with wider ones weighing costs more than a window saved.
func copyBits(logN int) int { return min(max(logN-2, 2), 24) }

// fittingCopies is the largest number of copies up to most that leaves a sum at least half the scratch memory that it would use at best;
// with less, its pieces get so short that the copies win nothing. left is the scratch memory that a number of copies leaves, and plan
// what a sum over them uses with a budget.
func fittingCopies(most int, left func(copies int) int64, plan func(copies int, budget int64) (int64, error)) (int, error) {
	for copies := most; copies > 1; copies-- {
		budget := left(copies)
		if budget < 1 {
			continue
		}
		best, err := plan(copies, 1<<62)
		if err != nil {
			return 0, err
		}
		used, err := plan(copies, budget)
		switch {
		case errors.Is(err, ErrMemory):
		case err != nil:
			return 0, err
		case used >= best/2:
			return copies, nil
		}
	}
	return 1, nil
}

// chooseCopies is how many tables of H a key of a circuit gets, from what the ledger has left after the key's other points.
func chooseCopies(c *Circuit, opts KeyOptions) (int, error) {
	if opts.Copies < 0 || opts.Copies > mostCopies {
		return 0, fmt.Errorf("%d copies of the points of H: 1 to %d can be made, or 0 for as many as are worth it", opts.Copies, mostCopies)
	}
	if opts.Copies > 0 {
		return opts.Copies, nil
	}
	if c.domain.logN < copiedLogN {
		return 1, nil
	}
	free := c.d.ledger.Free()
	left := func(copies int) int64 {
		scratch := scratchWithin(c, free-tableBytes(c.domain.logN, copies), max(opts.Prover.InFlight, 1))
		if opts.Prover.ScratchBytes > 0 {
			// The proofs' memory must fit, and no more of it is used than was asked for.
			scratch = min(scratch, opts.Prover.ScratchBytes)
		}
		return scratch
	}
	return fittingCopies(autoCopies, left, func(copies int, budget int64) (int64, error) {
		size := int(c.domain.size())
		// A plan does not look at the points, which are not there yet, but for their being somewhere.
		m, err := newMultiplier(c.d, inG1, bases{points: alignment, count: size, copies: copies, bits: copyBits(c.domain.logN)}, size, budget)
		if err != nil {
			return 0, err
		}
		defer m.free()
		return m.scratch, nil
	})
}

// tableBytes is the size of copies of 2^logN points, the originals included.
func tableBytes(logN, copies int) int64 { return int64(copies) * g1Bytes << logN }

// reserveTables takes the memory for the points of H and their copies.
func (k *Key) reserveTables(c *Circuit, name string, opts KeyOptions) error {
	copies, err := chooseCopies(c, opts)
	if err != nil {
		return err
	}
	k.h = bases{count: int(c.domain.size()), copies: copies}
	label := "key " + name
	if copies > 1 {
		k.h.bits = copyBits(c.domain.logN)
		label = fmt.Sprintf("key %s, H in %d copies", name, copies)
	}
	if k.tables, err = k.d.alloc(label, tableBytes(c.domain.logN, copies)); err != nil {
		return err
	}
	k.h.points = k.tables.addr
	return nil
}

// copyTables computes the copies, each from the one before. It blocks: a copy of 2^27 points takes seconds.
func (k *Key) copyTables(ctx context.Context) error {
	if k.h.copies == 1 {
		return nil
	}
	s, err := k.d.newStream()
	if err != nil {
		return err
	}
	defer s.free()
	shift := k.d.lib.fn.msmCopyShift(int32(k.h.bits), int32(k.h.copies)) //nolint:gosec // both are small
	table := uintptr(g1Bytes * k.h.count)
	for i := 1; i < k.h.copies; i++ {
		to := k.h.points + uintptr(i)*table
		err := k.d.call("copy points", func(e *callError) int32 {
			return k.d.lib.fn.basesMultiply(s.handle, groupG1, to-table, to, uint32(k.counts.H), shift, e) //nolint:gosec // counts and sizes are far below the limit
		})
		// Nothing may be under way when the memory goes.
		if err := errors.Join(err, s.wait(), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}
