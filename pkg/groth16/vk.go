package groth16

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
)

// MaxInputs is how many points IC a verifying key may have, the one of the constant included. The
// largest circuit, WindowPoSt of 32 GiB, has about 26,000.
const MaxInputs = 1 << 20

// vkFixedBytes is the length of a verifying key without IC's points.
const vkFixedBytes = 3*g1Bytes + 3*g2Bytes + 4

// VerifyingKey is what a verifier and a prover need of the parameters besides the queries. No point
// is at infinity.
type VerifyingKey struct {
	AlphaG1, BetaG1 bls12381.G1Affine
	BetaG2, GammaG2 bls12381.G2Affine
	DeltaG1         bls12381.G1Affine
	DeltaG2         bls12381.G2Affine
	IC              []bls12381.G1Affine // one for each input, the constant one first
}

// Size is the length of the encoded key.
func (vk *VerifyingKey) Size() int { return vkFixedBytes + len(vk.IC)*g1Bytes }

// WriteTo writes the key as the reference does: alpha, beta (G1, G2), gamma, delta (G1, G2), the
// u32 big-endian number of IC points, and these; all points uncompressed.
func (vk *VerifyingKey) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(vk.Bytes())
	if err != nil {
		return int64(n), fmt.Errorf("verifying key: %w", err)
	}
	return int64(n), nil
}

// Bytes encodes the key, see [VerifyingKey.WriteTo].
func (vk *VerifyingKey) Bytes() []byte {
	out := make([]byte, 0, vk.Size())
	g1 := func(p *bls12381.G1Affine) { b := p.RawBytes(); out = append(out, b[:]...) }
	g2 := func(p *bls12381.G2Affine) { b := p.RawBytes(); out = append(out, b[:]...) }
	g1(&vk.AlphaG1)
	g1(&vk.BetaG1)
	g2(&vk.BetaG2)
	g2(&vk.GammaG2)
	g1(&vk.DeltaG1)
	g2(&vk.DeltaG2)
	out = binary.BigEndian.AppendUint32(out, uint32(len(vk.IC))) //nolint:gosec // MaxInputs
	for i := range vk.IC {
		g1(&vk.IC[i])
	}
	return out
}

// ReadVerifyingKey reads a key from r and nothing after it. Every point must be canonical, on the
// curve, in the subgroup and not at infinity; there are 1 to [MaxInputs] IC points.
func ReadVerifyingKey(r io.Reader) (*VerifyingKey, error) {
	vk := new(VerifyingKey)
	var buf [g2Bytes]byte
	read := func(name string, p decoder, n int) error {
		if _, err := io.ReadFull(r, buf[:n]); err != nil {
			return fmt.Errorf("verifying key ends before %s: %w", name, err)
		}
		if err := decodeUncompressed(p, buf[:n]); err != nil {
			return fmt.Errorf("verifying key's %s: %w", name, err)
		}
		return nil
	}
	for _, f := range []struct {
		name string
		p    decoder
		n    int
	}{
		{"alpha in G1", &vk.AlphaG1, g1Bytes}, {"beta in G1", &vk.BetaG1, g1Bytes},
		{"beta in G2", &vk.BetaG2, g2Bytes}, {"gamma in G2", &vk.GammaG2, g2Bytes},
		{"delta in G1", &vk.DeltaG1, g1Bytes}, {"delta in G2", &vk.DeltaG2, g2Bytes},
	} {
		if err := read(f.name, f.p, f.n); err != nil {
			return nil, err
		}
	}
	if _, err := io.ReadFull(r, buf[:4]); err != nil {
		return nil, fmt.Errorf("verifying key ends before the number of inputs: %w", err)
	}
	n := binary.BigEndian.Uint32(buf[:4])
	if n < 1 || n > MaxInputs {
		return nil, fmt.Errorf("verifying key has %d inputs, want 1 to %d", n, MaxInputs)
	}
	for i := range n { // grown as it is read: the number may be a lie
		var p bls12381.G1Affine
		if err := read(fmt.Sprintf("input point %d of %d", i, n), &p, g1Bytes); err != nil {
			return nil, err
		}
		vk.IC = append(vk.IC, p)
	}
	return vk, nil
}

// ParseVerifyingKey reads a key from all of b.
func ParseVerifyingKey(b []byte) (*VerifyingKey, error) {
	r := bytes.NewReader(b)
	vk, err := ReadVerifyingKey(r)
	if err != nil {
		return nil, err
	}
	if r.Len() > 0 {
		return nil, fmt.Errorf("verifying key is followed by %d bytes", r.Len())
	}
	return vk, nil
}

// OpenVerifyingKey reads a .vk file.
func OpenVerifyingKey(path string) (*VerifyingKey, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, missing("verifying key file", path, err)
	}
	if !info.Mode().IsRegular() { // reading a pipe would wait for a writer, without an end
		return nil, fmt.Errorf("verifying key file %s is not a regular file", path)
	}
	if limit := int64(vkFixedBytes + MaxInputs*g1Bytes); info.Size() > limit {
		return nil, fmt.Errorf("verifying key file %s has %d bytes, more than any key", path, info.Size())
	}
	b, err := os.ReadFile(path) //nolint:gosec // the caller's path
	if err != nil {
		return nil, fmt.Errorf("verifying key file: %w", err)
	}
	vk, err := ParseVerifyingKey(b)
	if err != nil {
		return nil, fmt.Errorf("verifying key file %s: %w", path, err)
	}
	return vk, nil
}

// Equal says whether both keys are the same.
func (vk *VerifyingKey) Equal(o *VerifyingKey) bool {
	return len(vk.IC) == len(o.IC) && bytes.Equal(vk.Bytes(), o.Bytes())
}
