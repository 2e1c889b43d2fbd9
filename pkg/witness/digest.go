package witness

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// ChunkValues is how many auxiliary values one chunk digest covers.
const ChunkValues = 1 << 16

// Digest is what identifies an assignment. The field names are those of the reference program's
// output.
type Digest struct {
	Aux         string   `json:"aux_digest"`
	ChunkValues int      `json:"chunk_values"`
	Chunks      []string `json:"aux_chunk_digests"`
	Inputs      []string `json:"inputs"`
	Zeros       int      `json:"zeros"`
	Ones        int      `json:"ones"`
	Small       int      `json:"other_below_2_64"` // neither 0 nor 1 but below 2^64
}

// DigestOf computes the digest of an assignment: auxiliary values in order, 32 bytes little-endian
// canonical each; each chunk of ChunkValues hashed by SHA-256, and the digests hashed again.
func DigestOf(inputs, aux []fr.Element) *Digest {
	d := newDigester(inputs)
	d.write(aux)
	return d.sum()
}

// digester computes a digest of values that come piece by piece.
type digester struct {
	digest *Digest
	root   hash.Hash
	chunk  []byte
}

func newDigester(inputs []fr.Element) *digester {
	d := &digester{digest: &Digest{ChunkValues: ChunkValues}, root: sha256.New(), chunk: make([]byte, 0, ChunkValues*fr.Bytes)}
	var b [fr.Bytes]byte
	for i := range inputs {
		fr.LittleEndian.PutElement(&b, inputs[i])
		d.digest.Inputs = append(d.digest.Inputs, hex.EncodeToString(b[:]))
	}
	return d
}

// write adds auxiliary values.
func (d *digester) write(aux []fr.Element) {
	var b [fr.Bytes]byte
	for i := range aux {
		switch {
		case aux[i].IsZero():
			d.digest.Zeros++
		case aux[i].IsOne():
			d.digest.Ones++
		case aux[i].IsUint64():
			d.digest.Small++
		}
		fr.LittleEndian.PutElement(&b, aux[i])
		d.chunk = append(d.chunk, b[:]...)
		if len(d.chunk) == cap(d.chunk) {
			d.endChunk()
		}
	}
}

func (d *digester) endChunk() {
	sum := sha256.Sum256(d.chunk)
	d.root.Write(sum[:])
	d.digest.Chunks = append(d.digest.Chunks, hex.EncodeToString(sum[:]))
	d.chunk = d.chunk[:0]
}

func (d *digester) sum() *Digest {
	if len(d.chunk) > 0 {
		d.endChunk()
	}
	d.digest.Aux = hex.EncodeToString(d.root.Sum(nil))
	return d.digest
}
