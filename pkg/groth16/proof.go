package groth16

import (
	"errors"
	"fmt"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
)

// ProofBytes is the length of an encoded proof.
const ProofBytes = 2*bls12381.SizeOfG1AffineCompressed + bls12381.SizeOfG2AffineCompressed

// MaxProofs is how many proofs [ParseProofs] reads at most.
const MaxProofs = 1 << 12

// Proof is one Groth16 proof.
type Proof struct {
	A bls12381.G1Affine
	B bls12381.G2Affine
	C bls12381.G1Affine
}

// Bytes encodes the proof: A, B and C, compressed.
func (p *Proof) Bytes() [ProofBytes]byte {
	var out [ProofBytes]byte
	a, b, c := p.A.Bytes(), p.B.Bytes(), p.C.Bytes()
	copy(out[:], a[:])
	copy(out[len(a):], b[:])
	copy(out[len(a)+len(b):], c[:])
	return out
}

// ParseProof decodes exactly one proof. Points must be canonical, on the curve, in the subgroup of
// prime order and not at infinity.
func ParseProof(b []byte) (*Proof, error) {
	if len(b) != ProofBytes {
		return nil, fmt.Errorf("proof has %d bytes, want %d", len(b), ProofBytes)
	}
	const g1, g2 = bls12381.SizeOfG1AffineCompressed, bls12381.SizeOfG2AffineCompressed
	p := new(Proof)
	if err := decodeCompressed(&p.A, b[:g1:g1]); err != nil {
		return nil, fmt.Errorf("proof's A: %w", err)
	}
	if err := decodeCompressed(&p.B, b[g1:g1+g2:g1+g2]); err != nil {
		return nil, fmt.Errorf("proof's B: %w", err)
	}
	if err := decodeCompressed(&p.C, b[g1+g2:]); err != nil {
		return nil, fmt.Errorf("proof's C: %w", err)
	}
	return p, nil
}

// ParseProofs decodes proofs that follow each other, at least one and at most [MaxProofs].
func ParseProofs(b []byte) ([]*Proof, error) {
	n := len(b) / ProofBytes
	if n == 0 || n > MaxProofs || len(b)%ProofBytes != 0 {
		return nil, fmt.Errorf("proofs have %d bytes, want a multiple of %d up to %d", len(b), ProofBytes, MaxProofs*ProofBytes)
	}
	out := make([]*Proof, n)
	for i := range out {
		p, err := ParseProof(b[i*ProofBytes:][:ProofBytes])
		if err != nil {
			return nil, fmt.Errorf("proof %d of %d: %w", i, n, err)
		}
		out[i] = p
	}
	return out, nil
}

// hasInfinity says whether a point of the proof is at infinity, which no valid proof needs and the
// reference does not accept.
func (p *Proof) hasInfinity() bool {
	return p.A.IsInfinity() || p.B.IsInfinity() || p.C.IsInfinity()
}

var errInfinity = errors.New("point at infinity")
