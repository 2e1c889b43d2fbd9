package groth16

import (
	"errors"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
)

// Lengths of uncompressed points.
const (
	g1Bytes = bls12381.SizeOfG1AffineUncompressed
	g2Bytes = bls12381.SizeOfG2AffineUncompressed
)

// compressedBit says in an encoded point that y is left out.
const compressedBit byte = 1 << 7

var (
	errEncoding = errors.New("point is not in the expected encoding")
	errCurve    = errors.New("point is not on the curve")
	errSubgroup = errors.New("point is not in the subgroup of prime order")
)

// decoder is a point that reads its encodings and checks curve and subgroup.
type decoder interface {
	SetBytes(b []byte) (int, error)
	IsInfinity() bool
}

// decodeCompressed reads a compressed point that is not at infinity from all of b.
func decodeCompressed(p decoder, b []byte) error {
	if b[0]&compressedBit == 0 {
		return errEncoding
	}
	return decode(p, b)
}

// decodeUncompressed reads an uncompressed point that is not at infinity from all of b.
func decodeUncompressed(p decoder, b []byte) error {
	if b[0]&compressedBit != 0 {
		return errEncoding
	}
	return decode(p, b)
}

func decode(p decoder, b []byte) error {
	n, err := p.SetBytes(b)
	switch {
	case err != nil:
		return err
	case n != len(b):
		return errEncoding
	case p.IsInfinity():
		return errInfinity
	}
	return nil
}

// setG1 reads the coordinates of an uncompressed point of 96 bytes. It checks that they are
// canonical and not both zero (which would mean infinity in memory), and nothing else: flags make a
// coordinate larger than the modulus, so they are refused too.
func setG1(p *bls12381.G1Affine, b []byte) error {
	_ = b[g1Bytes-1]
	if err := setFp(&p.X, b[:fp.Bytes]); err != nil {
		return err
	}
	if err := setFp(&p.Y, b[fp.Bytes:]); err != nil {
		return err
	}
	if p.IsInfinity() {
		return errEncoding
	}
	return nil
}

// setG2 is setG1 for a point of 192 bytes, whose coordinates have their imaginary part first.
func setG2(p *bls12381.G2Affine, b []byte) error {
	_ = b[g2Bytes-1]
	for i, e := range []*fp.Element{&p.X.A1, &p.X.A0, &p.Y.A1, &p.Y.A0} {
		if err := setFp(e, b[i*fp.Bytes:]); err != nil {
			return err
		}
	}
	if p.IsInfinity() {
		return errEncoding
	}
	return nil
}

func setFp(e *fp.Element, b []byte) error {
	v, err := fp.BigEndian.Element((*[fp.Bytes]byte)(b))
	if err != nil {
		return errEncoding
	}
	*e = v
	return nil
}
