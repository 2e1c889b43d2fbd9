package groth16

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	"golang.org/x/crypto/blake2b"
)

// Digests identify a file.
type Digests struct {
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	BLAKE2b string `json:"blake2b"` // of 64 bytes
}

// Manifest is the digest as Filecoin's manifest gives it: the first 16 bytes of BLAKE2b, in hex.
func (d Digests) Manifest() string { return d.BLAKE2b[:min(32, len(d.BLAKE2b))] }

// digester computes Digests of what is written to it.
type digester struct {
	sha, blake hash.Hash
	n          int64
}

func newDigester() *digester {
	blake, err := blake2b.New512(nil)
	if err != nil {
		panic(err) // only keys can be wrong
	}
	return &digester{sha: sha256.New(), blake: blake}
}

// Write hashes b; it never fails.
func (d *digester) Write(b []byte) (int, error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = d.blake.Write(b) // a hash never fails
	}()
	_, _ = d.sha.Write(b)
	<-done
	d.n += int64(len(b))
	return len(b), nil
}

func (d *digester) digests() Digests {
	return Digests{d.n, hex.EncodeToString(d.sha.Sum(nil)), hex.EncodeToString(d.blake.Sum(nil))}
}

// Digests reads the whole file. progress, if not nil, is called with the bytes done.
func (p *Params) Digests(ctx context.Context, progress func(done int64)) (Digests, error) {
	const chunk = 4 << 20
	d := newDigester()
	for d.n < p.size {
		if err := ctx.Err(); err != nil {
			return Digests{}, err
		}
		b, err := p.src.view(d.n, min(chunk, p.size-d.n))
		if err != nil {
			return Digests{}, fmt.Errorf("parameter file %s: %w", p.path, err)
		}
		_, _ = d.Write(b) // a digester never fails
		if progress != nil {
			progress(d.n)
		}
	}
	return d.digests(), nil
}
