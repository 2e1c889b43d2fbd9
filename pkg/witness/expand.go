package witness

import (
	"context"
	"runtime"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"golang.org/x/sync/errgroup"

	"github.com/proofmill/proofmill/pkg/gadget"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

var one = fr.One()

// Aux computes all auxiliary values, NumAux elements of 32 bytes, on up to workers goroutines (all
// processors if 0). It blocks until done or ctx ends.
func (w *Witness) Aux(ctx context.Context, workers int) ([]fr.Element, error) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	aux := make([]fr.Element, w.System.NumAux)
	var g errgroup.Group
	g.SetLimit(workers)
	for k := range w.System.Blocks {
		b := &w.System.Blocks[k]
		for i := range b.Repeat {
			if ctx.Err() != nil {
				break
			}
			g.Go(func() error {
				w.ExpandInstance(k, i, aux[b.AuxStart+i*b.AuxStride:][:b.AuxStride])
				return nil
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return aux, ctx.Err()
}

// ExpandInstance computes the auxiliary values of instance i of a block into dst, which has the
// block's AuxStride elements. Different instances may be expanded at once.
func (w *Witness) ExpandInstance(block, i int, dst []fr.Element) {
	words, elements := w.streams(block, i)
	r := bitReader{words: words}
	for _, seg := range w.System.Blocks[block].Segments {
		out := dst[:seg.Count]
		dst = dst[seg.Count:]
		nbits, n := seg.StreamSize()
		switch seg.Op {
		case r1cs.OpBits:
			r.expand(out)
		case r1cs.OpElements:
			copy(out, elements[:n])
		default:
			gadget.Expand(seg, out, r.next(nbits), elements[:n])
		}
		elements = elements[n:]
	}
}

// bitReader reads a packed stream from its lowest bit on.
type bitReader struct {
	words []uint64
	pos   int
}

// next reads up to 64 bits.
func (r *bitReader) next(n int) uint64 {
	if n == 0 {
		return 0
	}
	word, shift := r.pos/64, uint(r.pos%64)
	v := r.words[word] >> shift
	if int(shift)+n > 64 {
		v |= r.words[word+1] << (64 - shift)
	}
	r.pos += n
	if n < 64 {
		v &= 1<<uint(n) - 1
	}
	return v
}

// expand reads a bit for each element of dst.
func (r *bitReader) expand(dst []fr.Element) {
	for len(dst) > 0 {
		n := min(64, len(dst))
		v := r.next(n)
		for k := range dst[:n] {
			if v>>uint(k)&1 == 1 {
				dst[k] = one
			} else {
				dst[k] = fr.Element{}
			}
		}
		dst = dst[n:]
	}
}
