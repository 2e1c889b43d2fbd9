package r1cs

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"runtime"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"golang.org/x/sync/errgroup"
)

// ChunkConstraints is how many constraints one chunk digest covers.
const ChunkConstraints = 1 << 16

// Digest is what identifies a system, and its counts. The field names are those of the reference
// program's output.
type Digest struct {
	NumInputs            int      `json:"num_inputs"`
	NumAux               int      `json:"num_aux"`
	NumConstraints       int      `json:"num_constraints"`
	NonZeroA             uint64   `json:"nnz_a"`
	NonZeroB             uint64   `json:"nnz_b"`
	NonZeroC             uint64   `json:"nnz_c"`
	AAuxDensity          int      `json:"a_aux_density"`
	BInputDensity        int      `json:"b_input_density"`
	BAuxDensity          int      `json:"b_aux_density"`
	DistinctCoefficients int      `json:"distinct_coefficients"`
	ChunkConstraints     int      `json:"chunk_constraints"`
	R1CS                 string   `json:"r1cs_digest"`
	Chunks               []string `json:"chunk_digests"`
}

// Digest computes the digest: constraints in order, each as A, B, C; each of these as the u32
// number of its terms and then, inputs first and by rising index, the u32 variable (bit 31 set for
// an input) and the 32-byte coefficient; all little-endian and canonical. Each chunk of
// ChunkConstraints constraints is hashed by SHA-256, and the digest is that of the chunk digests.
//
// Chunks are hashed on all processors, with a few MiB of memory each. It blocks until done or ctx
// ends.
func (s *System) Digest(ctx context.Context) (*Digest, error) {
	chunks := (s.NumConstraints + ChunkConstraints - 1) / ChunkConstraints
	sums := make([][sha256.Size]byte, chunks)
	coeffs := make([][fr.Bytes]byte, len(s.Coeffs))
	for i := range s.Coeffs {
		fr.LittleEndian.PutElement(&coeffs[i], s.Coeffs[i])
	}
	g, ctx := errgroup.WithContext(ctx)
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		g.Go(func() error {
			d := rowWriter{sys: s, coeffs: coeffs}
			for c := w; c < chunks; c += workers {
				if err := ctx.Err(); err != nil {
					return err
				}
				d.buf = d.buf[:0]
				d.rows(c*ChunkConstraints, min((c+1)*ChunkConstraints, s.NumConstraints))
				sums[c] = sha256.Sum256(d.buf)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	d := &Digest{
		NumInputs: s.NumInputs, NumAux: s.NumAux, NumConstraints: s.NumConstraints,
		DistinctCoefficients: len(s.Coeffs), ChunkConstraints: ChunkConstraints,
		NonZeroA: uint64(s.NumInputs), //nolint:gosec // the input constraints
	}
	for i := range s.Blocks {
		b := &s.Blocks[i]
		n := uint64(b.Repeat) //nolint:gosec // positive
		d.NonZeroA += n * uint64(len(b.A.Vars))
		d.NonZeroB += n * uint64(len(b.B.Vars))
		d.NonZeroC += n * uint64(len(b.C.Vars))
	}
	a, b := s.Density(MatrixA), s.Density(MatrixB)
	d.AAuxDensity, d.BAuxDensity, d.BInputDensity = a.Aux.Count(), b.Aux.Count(), b.Inputs.Count()
	root := sha256.New()
	for i := range sums {
		root.Write(sums[i][:])
		d.Chunks = append(d.Chunks, hex.EncodeToString(sums[i][:]))
	}
	d.R1CS = hex.EncodeToString(root.Sum(nil))
	return d, nil
}

// rowWriter appends constraints in the digest's form to buf.
type rowWriter struct {
	sys    *System
	coeffs [][fr.Bytes]byte
	buf    []byte
	terms  []rowTerm
}

type rowTerm struct {
	key   uint32 // orders inputs before auxiliary variables
	coeff uint16
}

// rows appends constraints from to to-1.
func (w *rowWriter) rows(from, to int) {
	for k := range w.sys.Blocks {
		b := &w.sys.Blocks[k]
		end := b.RowStart + b.Repeat*b.Rows
		for from < to && from >= b.RowStart && from < end {
			i, r := (from-b.RowStart)/b.Rows, (from-b.RowStart)%b.Rows
			for stop := min(b.Rows, r+to-from); r < stop; r++ {
				w.row(b, &b.A, i, r)
				w.row(b, &b.B, i, r)
				w.row(b, &b.C, i, r)
				from++
			}
		}
	}
	first := w.sys.NumConstraints - w.sys.NumInputs
	for ; from < to; from++ {
		w.buf = binary.LittleEndian.AppendUint32(w.buf, 1)
		w.buf = binary.LittleEndian.AppendUint32(w.buf, uint32(from-first)|1<<31) //nolint:gosec // below 2^29
		w.buf = append(w.buf, w.coeffs[CoeffOne][:]...)
		w.buf = append(w.buf, 0, 0, 0, 0, 0, 0, 0, 0)
	}
}

func (w *rowWriter) row(b *Block, m *Matrix, instance, r int) {
	from, to := m.Row(r)
	w.terms = w.terms[:0]
	sorted := true
	for t := from; t < to; t++ {
		v := m.Vars[t]
		key := uint32(v&auxFlag) | uint32(b.Position(v, instance)) //nolint:gosec // below 2^29
		if n := len(w.terms); n > 0 && w.terms[n-1].key >= key {
			sorted = false
		}
		w.terms = append(w.terms, rowTerm{key, m.Coeff[t]})
	}
	if !sorted { // moving variables may pass each other from one instance to the next
		slices.SortFunc(w.terms, func(a, b rowTerm) int { return int(int64(a.key) - int64(b.key)) })
	}
	w.buf = binary.LittleEndian.AppendUint32(w.buf, to-from)
	for _, t := range w.terms {
		w.buf = binary.LittleEndian.AppendUint32(w.buf, t.key^uint32(auxFlag))
		w.buf = append(w.buf, w.coeffs[t.coeff][:]...)
	}
}
