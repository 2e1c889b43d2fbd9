package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
)

// Digest is 32 bytes: a SHA-256, a commitment or a challenge. On the wire it is a byte string of exactly 32 bytes.
type Digest [32]byte

// SumOf is the SHA-256 of data.
func SumOf(data []byte) Digest { return sha256.Sum256(data) }

// IsZero reports whether all bytes are zero, which stands for "not given" where a field is optional.
func (d Digest) IsZero() bool { return d == Digest{} }

// String is the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// ParseDigest reads 64 hexadecimal digits.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	if len(s) != 2*len(d) {
		return d, Errorf(CodeBadRequest, "digest %.80q: %d characters, want %d hexadecimal digits", s, len(s), 2*len(d))
	}
	if _, err := hex.Decode(d[:], []byte(s)); err != nil {
		return d, Errorf(CodeBadRequest, "digest %.80q: %w", s, err)
	}
	return d, nil
}

// EncodeMsgpack implements msgpack.CustomEncoder.
func (d *Digest) EncodeMsgpack(enc *msgpack.Encoder) error { return enc.EncodeBytes(d[:]) }

// DecodeMsgpack implements msgpack.CustomDecoder: a shorter or longer byte string is an error.
func (d *Digest) DecodeMsgpack(dec *msgpack.Decoder) error {
	b, err := dec.DecodeBytes()
	if err != nil {
		return err
	}
	if len(b) != len(d) {
		return fmt.Errorf("digest of %d bytes, want %d", len(b), len(d))
	}
	copy(d[:], b)
	return nil
}
