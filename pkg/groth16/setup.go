package groth16

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// SetupOptions are the choices of a setup. The zero value will do.
type SetupOptions struct {
	Toxic    *Toxic                                // drawn, and forgotten afterwards, if nil
	Workers  int                                   // goroutines; all processors if 0
	Progress func(section string, done, total int) // of the file's points; not called concurrently
	Circuit  string                                // what the marker of SetupFile says
	R1CS     string                                // the system's digest, for the same
}

// SetupResult is what a setup made.
type SetupResult struct {
	VerifyingKey *VerifyingKey
	Counts       Counts
	Digests      Digests
}

// Setup makes the parameters of sys and writes them to w: the bytes that the reference's generator
// makes from the same secrets and the standard generators. Whoever runs a setup can know its
// secrets, so its parameters are for tests only; [SetupFile] marks them as such.
//
// The file is written as it is computed, a chunk of each section in memory at a time. It holds 160
// bytes a variable and 32 a constraint besides, and tables of up to 150 MB. It blocks until done or
// ctx ends.
func Setup(ctx context.Context, sys *r1cs.System, w io.Writer, opts SetupOptions) (*SetupResult, error) {
	s, err := newSetup(ctx, sys, opts)
	if err != nil {
		return nil, fmt.Errorf("setup: %w", err)
	}
	d := newDigester()
	buffered := bufio.NewWriterSize(io.MultiWriter(w, d), 1<<20)
	if err := errors.Join(s.write(ctx, buffered), buffered.Flush()); err != nil {
		return nil, fmt.Errorf("setup: %w", err)
	}
	res := &SetupResult{s.vk, s.counts, d.digests()}
	if res.Digests.Bytes != s.counts.FileBytes() {
		return nil, fmt.Errorf("setup: wrote %d bytes, counts say %d", res.Digests.Bytes, s.counts.FileBytes())
	}
	return res, nil
}

// SetupFile runs [Setup] into a file, and writes next to it the marker that says it is for tests
// only, and the verifying key (the path with .vk for .params). Each appears under its name only
// when it is complete and durable, the marker before the parameters.
func SetupFile(ctx context.Context, sys *r1cs.System, path string, opts SetupOptions) (*SetupResult, error) {
	f, err := createAtomic(path)
	if err != nil {
		return nil, fmt.Errorf("setup: %w", err)
	}
	res, err := Setup(ctx, sys, f, opts)
	if err != nil {
		return nil, errors.Join(err, f.abort())
	}
	vk := res.VerifyingKey.Bytes()
	sum := sha256.Sum256(vk)
	m := &Marker{
		Warning: markerWarning, Circuit: opts.Circuit, R1CS: opts.R1CS, Secrets: "drawn and forgotten",
		Counts: res.Counts, Digests: res.Digests, VKSHA256: hex.EncodeToString(sum[:]),
	}
	if opts.Toxic != nil {
		m.Secrets = "given by the caller"
	}
	if err := m.write(path); err != nil {
		return nil, errors.Join(fmt.Errorf("setup: %w", err), f.abort())
	}
	if err := writeFile(VerifyingKeyPath(path), vk); err != nil {
		return nil, errors.Join(fmt.Errorf("setup: %w", err), f.abort())
	}
	if err := f.commit(); err != nil {
		return nil, fmt.Errorf("setup: %w", err)
	}
	return res, nil
}

// VerifyingKeyPath is the path of the verifying key that belongs to a parameter file.
func VerifyingKeyPath(params string) string { return strings.TrimSuffix(params, ".params") + ".vk" }

// setup is a setup whose scalars are known.
type setup struct {
	opts    SetupOptions
	toxic   *Toxic
	counts  Counts
	vk      *VerifyingKey
	a, b    columns
	l       []fr.Element // (beta a + alpha b + c) / delta for the auxiliary variables
	domain  int
	g1      *fixedBase[fp.Element, *fp.Element]
	g2      *fixedBase[bls12381.E2, *bls12381.E2]
	written int // points
}

func newSetup(ctx context.Context, sys *r1cs.System, opts SetupOptions) (*setup, error) {
	s := &setup{opts: opts, toxic: opts.Toxic, domain: domainSize(sys.NumConstraints)}
	if s.toxic == nil {
		t, err := RandomToxic()
		if err != nil {
			return nil, err
		}
		s.toxic = t
	}
	if err := s.toxic.check(s.domain); err != nil {
		return nil, err
	}
	at, err := lagrange(&s.toxic.Tau, s.domain, sys.NumConstraints, opts.Workers)
	if err != nil {
		return nil, err
	}
	cols, err := columnsAt(ctx, sys, at)
	if err != nil {
		return nil, err
	}
	s.a, s.b = cols[0], cols[1]
	ic := s.combine(cols[2].inputs, s.a.inputs, s.b.inputs, &s.toxic.Gamma)
	s.l = s.combine(cols[2].aux, s.a.aux, s.b.aux, &s.toxic.Delta)
	for i := range s.l {
		if s.l[i].IsZero() {
			return nil, fmt.Errorf("auxiliary variable %d is in no constraint", i)
		}
	}
	nb := nonZero(s.b.inputs) + nonZero(s.b.aux)
	s.counts = Counts{
		IC: sys.NumInputs, H: s.domain - 1, L: sys.NumAux,
		A: nonZero(s.a.inputs) + nonZero(s.a.aux), BG1: nb, BG2: nb,
	}
	if want := CountsOf(sys); want != s.counts {
		return nil, fmt.Errorf("a column of the matrices vanishes at tau (%s, want %s); draw other secrets", s.counts, want)
	}
	_, _, g1, g2 := bls12381.Generators()
	s.g1 = newFixedBase[fp.Element](pointG1(g1), s.total()-s.counts.BG2, opts.Workers)
	s.g2 = newFixedBase[bls12381.E2](pointG2(g2), s.counts.BG2+3, opts.Workers)
	s.makeKey(ic)
	return s, nil
}

// combine computes (beta a + alpha b + c) / divisor in the memory of c.
func (s *setup) combine(c, a, b []fr.Element, divisor *fr.Element) []fr.Element {
	var inv fr.Element
	inv.Inverse(divisor)
	const chunk = 1 << 14
	each((len(c)+chunk-1)/chunk, s.opts.Workers, func() func(int) {
		return func(k int) {
			var t fr.Element
			for i := k * chunk; i < min(len(c), (k+1)*chunk); i++ {
				c[i].Add(&c[i], t.Mul(&a[i], &s.toxic.Beta))
				c[i].Add(&c[i], t.Mul(&b[i], &s.toxic.Alpha))
				c[i].Mul(&c[i], &inv)
			}
		}
	})
	return c
}

func nonZero(v []fr.Element) int {
	n := 0
	for i := range v {
		if !v[i].IsZero() {
			n++
		}
	}
	return n
}

func (s *setup) makeKey(ic []fr.Element) {
	t := s.toxic
	g1 := make([]bls12381.G1Affine, 3+len(ic))
	s.g1.multiplier().mul(asPointsG1(g1), append([]fr.Element{t.Alpha, t.Beta, t.Delta}, ic...))
	g2 := make([]bls12381.G2Affine, 3)
	s.g2.multiplier().mul(asPointsG2(g2), []fr.Element{t.Beta, t.Gamma, t.Delta})
	s.vk = &VerifyingKey{
		AlphaG1: g1[0], BetaG1: g1[1], DeltaG1: g1[2],
		BetaG2: g2[0], GammaG2: g2[1], DeltaG2: g2[2], IC: g1[3:],
	}
}

func (s *setup) total() int {
	c := &s.counts
	return c.H + c.L + c.A + c.BG1 + c.BG2
}

// write writes the whole file.
func (s *setup) write(ctx context.Context, w io.Writer) error {
	if _, err := s.vk.WriteTo(w); err != nil {
		return err
	}
	t := s.toxic
	scale := vanishing(&t.Tau, s.domain)
	var inv fr.Element
	scale.Mul(&scale, inv.Inverse(&t.Delta))
	h := func(dst []fr.Element, from int) {
		powers(dst, &t.Tau, from)
		for i := range dst {
			dst[i].Mul(&dst[i], &scale)
		}
	}
	b := copyFrom(dense(s.b))
	for _, sec := range []struct {
		section Section
		count   int
		scalars func(dst []fr.Element, from int)
	}{
		{SectionH, s.counts.H, h},
		{SectionL, s.counts.L, copyFrom(s.l)},
		{SectionA, s.counts.A, copyFrom(dense(s.a))},
		{SectionBG1, s.counts.BG1, b},
		{SectionBG2, s.counts.BG2, b},
	} {
		var count [4]byte
		binary.BigEndian.PutUint32(count[:], uint32(sec.count)) //nolint:gosec // below 2^29
		if _, err := w.Write(count[:]); err != nil {
			return err
		}
		if err := s.writeSection(ctx, w, sec.section, sec.count, sec.scalars); err != nil {
			return err
		}
	}
	return nil
}

func copyFrom(v []fr.Element) func(dst []fr.Element, from int) {
	return func(dst []fr.Element, from int) { copy(dst, v[from:]) }
}

// dense is the values that are not zero, inputs first.
func dense(c columns) []fr.Element {
	out := make([]fr.Element, 0, nonZero(c.inputs)+nonZero(c.aux))
	for _, v := range [][]fr.Element{c.inputs, c.aux} {
		for i := range v {
			if !v[i].IsZero() {
				out = append(out, v[i])
			}
		}
	}
	return out
}

// chunkScalars is how many scalars one task of a section multiplies.
const chunkScalars = 16 * batchPoints

// writeSection writes the products of a generator with count scalars. Tasks run on all workers and
// are written in order; no more of them are in memory than there are workers, twice.
func (s *setup) writeSection(ctx context.Context, w io.Writer, sec Section, count int, scalars func(dst []fr.Element, from int)) error {
	workers := processors(s.opts.Workers)
	tasks := (count + chunkScalars - 1) / chunkScalars
	results := make([]chan []byte, tasks)
	for i := range results {
		results[i] = make(chan []byte, 1)
	}
	// A task's room is taken before its number, so that the tasks with room are always the next ones
	// to be written.
	room := make(chan struct{}, 2*workers)
	var next atomic.Int64
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer wg.Wait()
	defer cancel()
	for range min(workers, tasks) {
		wg.Go(func() {
			encode := s.encoder(sec)
			v := make([]fr.Element, chunkScalars)
			for {
				select {
				case room <- struct{}{}:
				case <-ctx.Done():
					return
				}
				i := int(next.Add(1)) - 1
				if i >= tasks {
					return
				}
				from := i * chunkScalars
				n := min(chunkScalars, count-from)
				scalars(v[:n], from)
				results[i] <- encode(v[:n])
			}
		})
	}
	for i := range results {
		select {
		case b := <-results[i]:
			<-room
			if _, err := w.Write(b); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
		s.written += min(chunkScalars, count-i*chunkScalars)
		if s.opts.Progress != nil {
			s.opts.Progress(sec.String(), s.written, s.total())
		}
	}
	return ctx.Err()
}

// encoder multiplies scalars with the section's generator and encodes the products.
func (s *setup) encoder(sec Section) func([]fr.Element) []byte {
	if sec == SectionBG2 {
		m := s.g2.multiplier()
		points := make([]bls12381.G2Affine, chunkScalars)
		return func(v []fr.Element) []byte {
			m.mul(asPointsG2(points[:len(v)]), v)
			out := make([]byte, 0, len(v)*g2Bytes)
			for i := range v {
				b := points[i].RawBytes()
				out = append(out, b[:]...)
			}
			return out
		}
	}
	m := s.g1.multiplier()
	points := make([]bls12381.G1Affine, chunkScalars)
	return func(v []fr.Element) []byte {
		m.mul(asPointsG1(points[:len(v)]), v)
		out := make([]byte, 0, len(v)*g1Bytes)
		for i := range v {
			b := points[i].RawBytes()
			out = append(out, b[:]...)
		}
		return out
	}
}
