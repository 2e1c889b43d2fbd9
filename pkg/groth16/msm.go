package groth16

import (
	"context"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// The multi-scalar multiplication is Pippenger's with signed windows, in which every addition is a
// batched affine one. Points of the same bucket are added as a tree, level by level, so that all
// additions of a level are independent whatever the scalars are; a chunk of points at a time, so
// that its tree stays in the cache.

// msmChunk is how many points go through one tree.
const msmChunk = 1 << 13

// msmWindow is the window that needs the fewest additions for n points: one for each point and
// window, and two for each bucket.
func msmWindow(n int) int {
	best, least := 2, int(^uint(0)>>1)
	for c := 2; c <= maxWindow; c++ {
		if cost := windowsOf(c) * (n + 1<<c); cost < least {
			best, least = c, cost
		}
	}
	return best
}

// msm is the sum of points times scalars on up to workers goroutines. It needs 32 bytes a scalar and
// a few MB a goroutine. It looks at the context between chunks.
func msm[F any, P field[F]](ctx context.Context, points []point[F], scalars []fr.Element, workers int) (point[F], error) {
	if len(points) == 0 {
		return point[F]{}, ctx.Err()
	}
	c := msmWindow(len(points))
	windows := windowsOf(c)
	shifted := shiftScalars(scalars, c, workers)
	// More parts of the points than one only where the windows are too few for the workers.
	parts := max(1, min(2*processors(workers)/windows, len(points)/msmChunk))
	sums := make([]point[F], windows*parts)
	each(len(sums), workers, func() func(int) {
		m := newBuckets[F, P](c)
		return func(i int) {
			j, part := windows-1-i/parts, i%parts
			from, to := part*len(points)/parts, (part+1)*len(points)/parts
			m.clear()
			for ; from < to && ctx.Err() == nil; from += msmChunk {
				end := min(to, from+msmChunk)
				m.addChunk(points[from:end], shifted[from:end], j)
			}
			sums[i] = m.sum()
		}
	})
	if err := ctx.Err(); err != nil {
		return point[F]{}, err
	}
	one := newAdder[F, P]()
	total := make([]point[F], 1)
	for j := range windows { // from the highest
		for range c {
			if !isInfinity[F, P](&total[0]) {
				double[F, P](&total[0])
			}
		}
		for part := range parts {
			one.add(total, sums, []int32{int32(j*parts+part) + 1}) //nolint:gosec // few
		}
	}
	return total[0], nil
}

// shiftScalars adds 2^(c-1) to each window of each scalar but the highest: with that subtracted
// again from a window's value, it is the signed digit, and no carry goes from one to the next.
func shiftScalars(scalars []fr.Element, c, workers int) [][4]uint64 {
	var shift [4]uint64
	for j := range windowsOf(c) - 1 {
		at := j*c + c - 1
		shift[at/64] |= 1 << (at % 64)
	}
	out := make([][4]uint64, len(scalars))
	eachChunk(len(scalars), workers, func(from, to int) {
		for i := from; i < to; i++ {
			w := scalars[i].Bits()
			var carry uint64
			for k := range w {
				out[i][k], carry = bits.Add64(w[k], shift[k], carry)
			}
		}
	})
	return out
}

// buckets adds up the points of a window by their digits. It is used by one goroutine.
type buckets[F any, P field[F]] struct {
	window int
	add    *adder[F, P]
	point  []point[F] // point[d-1] is the sum of those with digit d, minus those with digit -d
	digit  []int32    // of the chunk's points
	start  []int32    // where the points of each bucket start in order
	order  []int32    // numbers of points by bucket, from one, negative for a negative digit
	level  [2][]point[F]
	owner  [2][]int32 // the bucket of each point of a level
	idx    []int32
}

func newBuckets[F any, P field[F]](c int) *buckets[F, P] {
	n := 1 << (c - 1)
	b := &buckets[F, P]{
		window: c, add: newAdder[F, P](), point: make([]point[F], n),
		digit: make([]int32, msmChunk), start: make([]int32, n+1), order: make([]int32, msmChunk),
		idx: make([]int32, max(n, msmChunk)),
	}
	for i := range b.level {
		b.level[i], b.owner[i] = make([]point[F], msmChunk), make([]int32, msmChunk)
	}
	return b
}

func (b *buckets[F, P]) clear() { clear(b.point) }

// digits writes the signed digits of window j.
func (b *buckets[F, P]) digits(scalars [][4]uint64, j int) {
	c := b.window
	at, half, mask := j*c, int32(1)<<(c-1), uint64(1)<<c-1
	word, shift := at/64, at%64
	if j == windowsOf(c)-1 {
		half = 0 // the highest window is not shifted
	}
	for i := range scalars {
		v := scalars[i][word] >> shift
		if shift+c > 64 && word+1 < fr.Limbs {
			v |= scalars[i][word+1] << (64 - shift)
		}
		b.digit[i] = int32(v&mask) - half //nolint:gosec // 16 bits
	}
}

// sort orders the chunk's n points by bucket, those with digit zero left out, and returns how many
// are left.
func (b *buckets[F, P]) sort(n int) int {
	clear(b.start)
	for _, d := range b.digit[:n] {
		if d != 0 {
			b.start[max(d, -d)]++
		}
	}
	for k := 1; k < len(b.start); k++ { // start[d] becomes where digit d ends
		b.start[k] += b.start[k-1]
	}
	sorted := int(b.start[len(b.start)-1])
	for i := n - 1; i >= 0; i-- { // and then where it starts
		d := b.digit[i]
		if d == 0 {
			continue
		}
		p := &b.start[max(d, -d)]
		*p--
		b.order[*p] = int32(i) + 1 //nolint:gosec // below msmChunk
		if d < 0 {
			b.order[*p] = -b.order[*p]
		}
	}
	return sorted
}

// addChunk adds a chunk of points to the buckets of window j.
func (b *buckets[F, P]) addChunk(points []point[F], scalars [][4]uint64, j int) {
	b.digits(scalars, j)
	sorted := b.sort(len(points))
	// The first level pairs points where they lie.
	next, owner, n := b.level[0], b.owner[0], 0
	used := 0 // of the sorted points
	for d := 1; d < len(b.start); d++ {
		end := sorted // of this digit
		if d+1 < len(b.start) {
			end = int(b.start[d+1])
		}
		for ; used < end; used += 2 {
			first := b.order[used]
			next[n] = points[max(first, -first)-1]
			if first < 0 {
				P(&next[n].Y).Neg(&next[n].Y)
			}
			owner[n], b.idx[n] = int32(d), 0
			if used+1 < end {
				b.idx[n] = b.order[used+1]
			}
			n++
		}
		used = end
	}
	b.add.add(next[:n], points, b.idx[:n])
	// Further levels pair neighbours of the level before.
	for from := 0; ; from = 1 - from {
		before, owners := b.level[from][:n], b.owner[from][:n]
		next, owner := b.level[1-from], b.owner[1-from]
		m := 0
		for i := 0; i < len(before); i++ {
			next[m], owner[m], b.idx[m] = before[i], owners[i], 0
			if i+1 < len(before) && owners[i+1] == owners[i] {
				i++
				b.idx[m] = int32(i) + 1
			}
			m++
		}
		if m == n {
			b.addLevel(before, owners)
			return
		}
		b.add.add(next[:m], before, b.idx[:m])
		n = m
	}
}

// addLevel adds points of different buckets to these.
func (b *buckets[F, P]) addLevel(points []point[F], owners []int32) {
	idx := b.idx[:len(b.point)]
	clear(idx)
	for i, d := range owners {
		idx[d-1] = int32(i) + 1
	}
	b.add.add(b.point, points, idx)
}

// sum is the sum of the buckets times their digits.
func (b *buckets[F, P]) sum() point[F] { return weightedSum(b.add, b.point) }

// weightedSum is the sum of (k+1) times p[k]. It goes through the points in lanes, each with the
// running sum of its points from the last on and the sum of these, so that the additions of
// different lanes are independent:
//
//	sum over all k = sum over lanes of (the lane's weighted sum + first index * the lane's sum)
func weightedSum[F any, P field[F]](a *adder[F, P], p []point[F]) point[F] {
	depth := 16
	if len(p) <= depth {
		depth = len(p)
	} else if len(p) > 1<<10 {
		depth = 32
	}
	if depth == 0 {
		return point[F]{}
	}
	lanes := (len(p) + depth - 1) / depth
	run, total, idx := make([]point[F], lanes), make([]point[F], lanes), make([]int32, lanes)
	for k := depth - 1; k >= 0; k-- {
		for i := range idx {
			idx[i] = 0
			if at := i*depth + k; at < len(p) {
				idx[i] = int32(at) + 1 //nolint:gosec // 16 bits
			}
		}
		a.add(run, p, idx)
		for i := range idx {
			idx[i] = int32(i) + 1
		}
		a.add(total, run, idx)
	}
	sum := sumAll(a, total)
	if lanes == 1 {
		return sum
	}
	offset := weightedSum(a, run[1:])
	// times depth
	for n := depth; n > 1; n /= 2 {
		if !isInfinity[F, P](&offset) {
			double[F, P](&offset)
		}
	}
	out := []point[F]{sum}
	a.add(out, []point[F]{offset}, []int32{1})
	return out[0]
}

// sumAll is the sum of points, which it overwrites.
func sumAll[F any, P field[F]](a *adder[F, P], p []point[F]) point[F] {
	idx := make([]int32, (len(p)+1)/2)
	for len(p) > 1 {
		half := (len(p) + 1) / 2
		for i := range half {
			idx[i] = 0
			if half+i < len(p) {
				idx[i] = int32(i) + 1
			}
		}
		a.add(p[:half], p[half:], idx[:half])
		p = p[:half]
	}
	return p[0]
}
