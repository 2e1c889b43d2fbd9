package groth16

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// Policy says which parameter files may be used.
type Policy int

const (
	// PolicyProduction refuses parameters that are marked as made for tests.
	PolicyProduction Policy = iota
	// PolicyTest takes any parameters.
	PolicyTest
)

// Params is an open parameter file. The file is mapped into memory (where the system can) and read
// as far as it is used; it must not be changed or cut while it is open. Params may be used by any
// number of goroutines until Close.
type Params struct {
	path     string
	size     int64
	src      source
	vk       *VerifyingKey
	sections [numSections]extent
	marker   *Marker
}

// OpenParams opens a parameter file and reads its verifying key and the places of its sections. It
// does not look at the points, see [Params.Check]. Errors wrap ErrParamsMissing, ErrParamsDamaged
// or ErrParamsTestOnly.
func OpenParams(path string, policy Policy) (*Params, error) {
	f, err := os.Open(path) //nolint:gosec // the caller's path
	if err != nil {
		return nil, missing("parameter file", path, err)
	}
	defer f.Close() //nolint:errcheck // only read
	marker, err := ReadMarker(path)
	if err != nil {
		return nil, err
	}
	if marker != nil && policy != PolicyTest {
		return nil, fmt.Errorf("parameter file %s: %w (%s exists): proofs made with them prove nothing; fetch Filecoin's with `curio fetch-params SIZE` or `lotus fetch-params SIZE`",
			path, ErrParamsTestOnly, MarkerPath(path))
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("parameter file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("parameter file %s is not a regular file", path)
	}
	size := info.Size()
	if err := looksWrong(f, path, size); err != nil {
		return nil, err
	}
	src, err := openSource(f, size)
	if err != nil {
		return nil, fmt.Errorf("parameter file %s: %w", path, err)
	}
	vk, sections, err := readLayout(src, size)
	if err != nil {
		return nil, errors.Join(damaged(path, "%w", err), src.Close())
	}
	return &Params{path: path, size: size, src: src, vk: vk, sections: sections, marker: marker}, nil
}

// looksWrong recognizes what failed downloads leave behind.
func looksWrong(f io.ReaderAt, path string, size int64) error {
	if size >= vkFixedBytes+g1Bytes {
		return nil
	}
	head := make([]byte, size)
	if _, err := f.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("parameter file: %w", err)
	}
	if trimmed := bytes.TrimSpace(head); len(trimmed) > 0 && (trimmed[0] == '<' || trimmed[0] == '{') {
		return damaged(path, "its %d bytes are text, as of a server's error page", size)
	}
	return damaged(path, "it has only %d bytes", size)
}

// Close unmaps the file. Views and reads must have ended.
func (p *Params) Close() error {
	if err := p.src.Close(); err != nil {
		return fmt.Errorf("parameter file %s: %w", p.path, err)
	}
	return nil
}

// Path is the file's path.
func (p *Params) Path() string { return p.path }

// Size is the file's length in bytes.
func (p *Params) Size() int64 { return p.size }

// Marker is how the parameters were made if they are for tests only, and nil otherwise.
func (p *Params) Marker() *Marker { return p.marker }

// VerifyingKey is the file's verifying key; it must not be changed.
func (p *Params) VerifyingKey() *VerifyingKey { return p.vk }

// Count is how many points a section has.
func (p *Params) Count(s Section) int { return p.sections[s].count }

// Offset is where the first point of a section lies in the file.
func (p *Params) Offset(s Section) int64 { return p.sections[s].offset }

// Raw is the encoded points from to from+n-1 of a section, as they are in the file: uncompressed,
// big-endian, not in Montgomery form, unchecked. The bytes are read only and valid until Close.
func (p *Params) Raw(s Section, from, n int) ([]byte, error) {
	e := p.sections[s]
	if from < 0 || n < 0 || from > e.count || n > e.count-from {
		return nil, fmt.Errorf("parameter file %s: section %s has %d points, not %d from %d on", p.path, s, e.count, n, from)
	}
	size := int64(s.PointBytes())
	b, err := p.src.view(e.offset+int64(from)*size, int64(n)*size)
	if err != nil {
		return nil, fmt.Errorf("parameter file %s: section %s: %w", p.path, s, err)
	}
	return b, nil
}

// ReadG1 converts len(dst) points of a section of G1 from number from on. Coordinates must be
// canonical; whether the points are on the curve is not checked.
func (p *Params) ReadG1(s Section, from int, dst []bls12381.G1Affine) error {
	b, err := p.Raw(s, from, len(dst))
	if err != nil {
		return err
	}
	for i := range dst {
		if err := setG1(&dst[i], b[i*g1Bytes:][:g1Bytes]); err != nil {
			return damaged(p.path, "section %s, point %d: %w", s, from+i, err)
		}
	}
	return nil
}

// ReadG2 converts len(dst) points of section BG2 from number from on, see [Params.ReadG1].
func (p *Params) ReadG2(from int, dst []bls12381.G2Affine) error {
	b, err := p.Raw(SectionBG2, from, len(dst))
	if err != nil {
		return err
	}
	for i := range dst {
		if err := setG2(&dst[i], b[i*g2Bytes:][:g2Bytes]); err != nil {
			return damaged(p.path, "section %s, point %d: %w", SectionBG2, from+i, err)
		}
	}
	return nil
}

// Fits says whether the file has the counts of sys. An error wraps [ErrParamsForeign].
func (p *Params) Fits(sys *r1cs.System) error {
	return fits(p.path, CountsOf(sys), p.counts())
}

func (p *Params) counts() Counts {
	return Counts{
		IC: len(p.vk.IC), H: p.Count(SectionH), L: p.Count(SectionL), A: p.Count(SectionA),
		BG1: p.Count(SectionBG1), BG2: p.Count(SectionBG2),
	}
}

// Check verifies that every point of the file is on its curve and in the subgroup of prime order,
// the latter but for a chance below 2^-64 for each chunk of points. It takes minutes for large
// files, and uses up to workers goroutines (all processors if 0). progress, if not nil, is called
// from one goroutine at a time with the points done and their total.
func (p *Params) Check(ctx context.Context, workers int, progress func(done, total int)) error {
	const chunk = 1 << 14
	total, done := 0, 0
	for s := range numSections {
		total += p.Count(s)
	}
	for s := range numSections {
		n := p.Count(s)
		for from := 0; from < n; from += chunk {
			if err := ctx.Err(); err != nil {
				return err
			}
			k := min(chunk, n-from)
			if err := p.checkPoints(s, from, k, workers); err != nil {
				return err
			}
			done += k
			if progress != nil {
				progress(done, total)
			}
		}
	}
	return nil
}

func (p *Params) checkPoints(s Section, from, n, workers int) error {
	const piece = 256
	pieces := (n + piece - 1) / piece
	bad := make([]error, pieces)
	var inSubgroup bool
	if s == SectionBG2 {
		points := make([]bls12381.G2Affine, n)
		if err := p.ReadG2(from, points); err != nil {
			return err
		}
		each(pieces, workers, func() func(int) {
			return func(i int) { bad[i] = onCurve(points[i*piece : min(n, (i+1)*piece)]) }
		})
		inSubgroup = errors.Join(bad...) == nil && bls12381.IsInSubGroupBatchG2(points)
	} else {
		points := make([]bls12381.G1Affine, n)
		if err := p.ReadG1(s, from, points); err != nil {
			return err
		}
		each(pieces, workers, func() func(int) {
			return func(i int) { bad[i] = onCurve(points[i*piece : min(n, (i+1)*piece)]) }
		})
		inSubgroup = errors.Join(bad...) == nil && bls12381.IsInSubGroupBatchG1(points)
	}
	for i, err := range bad {
		if err != nil {
			return damaged(p.path, "section %s, points %d to %d: %w", s, from+i*piece, from+min(n, (i+1)*piece)-1, err)
		}
	}
	if !inSubgroup {
		return damaged(p.path, "section %s, points %d to %d: %w", s, from, from+n-1, errSubgroup)
	}
	return nil
}

func onCurve[T any, P interface {
	*T
	IsOnCurve() bool
}](points []T) error {
	for i := range points {
		if !P(&points[i]).IsOnCurve() {
			return errCurve
		}
	}
	return nil
}
