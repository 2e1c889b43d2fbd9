package witness

import (
	"crypto/sha256"
	"encoding/hex"

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
	d := &Digest{ChunkValues: ChunkValues}
	var b [fr.Bytes]byte
	for i := range inputs {
		fr.LittleEndian.PutElement(&b, inputs[i])
		d.Inputs = append(d.Inputs, hex.EncodeToString(b[:]))
	}
	root := sha256.New()
	buf := make([]byte, 0, ChunkValues*fr.Bytes)
	for len(aux) > 0 {
		n := min(ChunkValues, len(aux))
		buf = buf[:0]
		for i := range aux[:n] {
			switch {
			case aux[i].IsZero():
				d.Zeros++
			case aux[i].IsOne():
				d.Ones++
			case aux[i].IsUint64():
				d.Small++
			}
			fr.LittleEndian.PutElement(&b, aux[i])
			buf = append(buf, b[:]...)
		}
		sum := sha256.Sum256(buf)
		root.Write(sum[:])
		d.Chunks = append(d.Chunks, hex.EncodeToString(sum[:]))
		aux = aux[n:]
	}
	d.Aux = hex.EncodeToString(root.Sum(nil))
	return d
}
