package witness

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// The blob, all integers little-endian:
//
//	8   magic "PMWITNES"
//	4   format, 1
//	4   size of the header in bytes, a multiple of 64
//	32  digest of the constraint system
//	32  job
//	4   partition
//	4   number of public inputs
//	8   number of words
//	8   number of elements
//	2   length of the circuit's name, and the name
//	    zeros up to the size of the header
//	    public inputs, 32 bytes each, canonical
//	    words, 8 bytes each
//	    elements, 32 bytes each, in Montgomery form (the value times 2^256)
//	32  SHA-256 of all before
//
// Each section starts at a multiple of 64 bytes, filled up with zeros, so that a prover can copy it
// to a device as it is.
const (
	blobFormat  = 1
	blobAlign   = 64
	fixedHeader = 8 + 4 + 4 + 32 + 32 + 4 + 4 + 8 + 8 + 2
	maxName     = 128
)

var blobMagic = [8]byte{'P', 'M', 'W', 'I', 'T', 'N', 'E', 'S'}

// ErrCorrupt is in the tree of every error of a blob whose bytes are not what was written.
var ErrCorrupt = errors.New("witness blob is corrupt")

// Header says what a blob is the witness of.
type Header struct {
	Circuit   string   // for people and for finding the system
	R1CS      [32]byte // digest of the constraint system
	Job       [32]byte
	Partition uint32
}

// sections are the byte offsets of a blob's parts.
type sections struct {
	inputs, words, elements, end int
}

func layoutBlob(header, inputs, words, elements int) sections {
	var s sections
	s.inputs = header
	s.words = align(s.inputs + inputs*fr.Bytes)
	s.elements = align(s.words + words*8)
	s.end = align(s.elements + elements*fr.Bytes)
	return s
}

func align(n int) int { return (n + blobAlign - 1) / blobAlign * blobAlign }

// BlobSize is the size in bytes of a witness of sys as a blob.
func BlobSize(sys *r1cs.System, circuit string) int {
	l := NewLayout(sys)
	return layoutBlob(align(fixedHeader+len(circuit)), sys.NumInputs, l.Words, l.Elements).end + sha256.Size
}

// Encode writes a witness as a blob into one new buffer.
func Encode(h Header, w *Witness) ([]byte, error) {
	if len(h.Circuit) == 0 || len(h.Circuit) > maxName {
		return nil, fmt.Errorf("witness blob: circuit name of %d bytes", len(h.Circuit))
	}
	header := align(fixedHeader + len(h.Circuit))
	s := layoutBlob(header, len(w.Inputs), len(w.Words), len(w.Elements))
	b := make([]byte, s.end+sha256.Size)
	p := b[:0]
	p = append(p, blobMagic[:]...)
	p = binary.LittleEndian.AppendUint32(p, blobFormat)
	p = binary.LittleEndian.AppendUint32(p, uint32(header)) //nolint:gosec // below 256
	p = append(append(p, h.R1CS[:]...), h.Job[:]...)
	p = binary.LittleEndian.AppendUint32(p, h.Partition)
	p = binary.LittleEndian.AppendUint32(p, uint32(len(w.Inputs))) //nolint:gosec // below 2^29
	p = binary.LittleEndian.AppendUint64(p, uint64(len(w.Words)))
	p = binary.LittleEndian.AppendUint64(p, uint64(len(w.Elements)))
	p = binary.LittleEndian.AppendUint16(p, uint16(len(h.Circuit))) //nolint:gosec // below 128
	_ = append(p, h.Circuit...)
	for i := range w.Inputs {
		fr.LittleEndian.PutElement((*[fr.Bytes]byte)(b[s.inputs+i*fr.Bytes:]), w.Inputs[i])
	}
	for i, v := range w.Words {
		binary.LittleEndian.PutUint64(b[s.words+i*8:], v)
	}
	for i := range w.Elements {
		e := b[s.elements+i*fr.Bytes:][:fr.Bytes]
		for k, v := range w.Elements[i] {
			binary.LittleEndian.PutUint64(e[k*8:], v)
		}
	}
	sum := sha256.Sum256(b[:s.end])
	copy(b[s.end:], sum[:])
	return b, nil
}

// DecodeHeader reads what a blob, of which at least the first 256 bytes are at hand, says it is.
// It does not check the digest.
func DecodeHeader(b []byte) (Header, error) {
	h, _, err := decodeHeader(b)
	return h, err
}

type counts struct {
	header, inputs  int
	words, elements uint64
}

func decodeHeader(b []byte) (Header, counts, error) {
	var h Header
	if len(b) < fixedHeader || !bytes.Equal(b[:8], blobMagic[:]) {
		return h, counts{}, fmt.Errorf("%w: it does not begin as one", ErrCorrupt)
	}
	if f := binary.LittleEndian.Uint32(b[8:]); f != blobFormat {
		return h, counts{}, fmt.Errorf("witness blob has format %d, this program reads %d", f, blobFormat)
	}
	c := counts{header: int(binary.LittleEndian.Uint32(b[12:]))}
	copy(h.R1CS[:], b[16:])
	copy(h.Job[:], b[48:])
	h.Partition = binary.LittleEndian.Uint32(b[80:])
	c.inputs = int(binary.LittleEndian.Uint32(b[84:]))
	c.words = binary.LittleEndian.Uint64(b[88:])
	c.elements = binary.LittleEndian.Uint64(b[96:])
	n := int(binary.LittleEndian.Uint16(b[104:]))
	if n == 0 || n > maxName || c.header != align(fixedHeader+n) || len(b) < fixedHeader+n {
		return h, c, fmt.Errorf("%w: its header has the wrong size", ErrCorrupt)
	}
	h.Circuit = string(b[fixedHeader : fixedHeader+n])
	return h, c, nil
}

// Decode reads a blob as a witness of sys. It checks the digest over all bytes, that the streams
// have the sizes that sys needs, and that every element is reduced. The blob's own claim which
// circuit it is for is returned, and is the caller's to compare.
func Decode(sys *r1cs.System, b []byte) (*Witness, Header, error) {
	h, c, err := decodeHeader(b)
	if err != nil {
		return nil, h, err
	}
	w := &Witness{System: sys, Layout: NewLayout(sys)}
	if c.inputs != sys.NumInputs || c.words != uint64(w.Layout.Words) || c.elements != uint64(w.Layout.Elements) { //nolint:gosec // lengths
		return nil, h, fmt.Errorf("%w: circuit %s has %d inputs, %d words, %d elements, the blob %d, %d, %d", ErrCorrupt,
			h.Circuit, sys.NumInputs, w.Layout.Words, w.Layout.Elements, c.inputs, c.words, c.elements)
	}
	s := layoutBlob(c.header, sys.NumInputs, w.Layout.Words, w.Layout.Elements)
	if len(b) != s.end+sha256.Size {
		return nil, h, fmt.Errorf("%w: it has %d bytes, want %d", ErrCorrupt, len(b), s.end+sha256.Size)
	}
	if sum := sha256.Sum256(b[:s.end]); !bytes.Equal(sum[:], b[s.end:]) {
		return nil, h, fmt.Errorf("%w: its bytes do not have the digest at its end", ErrCorrupt)
	}
	w.Inputs = make([]fr.Element, sys.NumInputs)
	for i := range w.Inputs {
		if w.Inputs[i], err = fr.LittleEndian.Element((*[fr.Bytes]byte)(b[s.inputs+i*fr.Bytes:])); err != nil {
			return nil, h, fmt.Errorf("%w: public input %d is not reduced", ErrCorrupt, i)
		}
	}
	if !w.Inputs[0].IsOne() {
		return nil, h, fmt.Errorf("%w: its first public input is not one", ErrCorrupt)
	}
	w.Words = make([]uint64, w.Layout.Words)
	for i := range w.Words {
		w.Words[i] = binary.LittleEndian.Uint64(b[s.words+i*8:])
	}
	w.Elements = make([]fr.Element, w.Layout.Elements)
	for i := range w.Elements {
		e := b[s.elements+i*fr.Bytes:][:fr.Bytes]
		for k := range w.Elements[i] {
			w.Elements[i][k] = binary.LittleEndian.Uint64(e[k*8:])
		}
		if !reduced(&w.Elements[i]) {
			return nil, h, fmt.Errorf("%w: element %d is not reduced", ErrCorrupt, i)
		}
	}
	return w, h, nil
}

var modulus = func() (m [fr.Limbs]uint64) {
	b := fr.Modulus().FillBytes(make([]byte, fr.Bytes))
	for k := range m {
		m[k] = binary.BigEndian.Uint64(b[fr.Bytes-8*(k+1):])
	}
	return m
}()

// reduced says whether the limbs are below the modulus.
func reduced(e *fr.Element) bool {
	var borrow uint64
	for k := range e {
		_, borrow = bits.Sub64(e[k], modulus[k], borrow)
	}
	return borrow == 1
}
