package groth16

import (
	"context"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"golang.org/x/sync/errgroup"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// Key is a parameter file's points in memory, ready for computing with them. It is immutable once
// loaded and may be shared by any number of provers.
type Key struct {
	VK           *VerifyingKey
	H, L, A, BG1 []bls12381.G1Affine
	BG2          []bls12381.G2Affine
	path         string
}

// keyChunk is how many points one task of LoadKey converts.
const keyChunk = 1 << 13

// LoadKey reads all points of a parameter file on up to workers goroutines (all processors if 0).
// The key needs the file's size of memory, and no longer needs the file. It blocks until done or
// ctx ends.
func LoadKey(ctx context.Context, p *Params, workers int) (*Key, error) {
	k := &Key{
		VK: p.vk, path: p.path,
		H:   make([]bls12381.G1Affine, p.Count(SectionH)),
		L:   make([]bls12381.G1Affine, p.Count(SectionL)),
		A:   make([]bls12381.G1Affine, p.Count(SectionA)),
		BG1: make([]bls12381.G1Affine, p.Count(SectionBG1)),
		BG2: make([]bls12381.G2Affine, p.Count(SectionBG2)),
	}
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(processors(workers))
	load := func(n int, read func(from, to int) error) {
		for from := 0; from < n && running.Err() == nil; from += keyChunk {
			g.Go(func() error { return read(from, min(n, from+keyChunk)) })
		}
	}
	for s, dst := range [][]bls12381.G1Affine{SectionH: k.H, SectionL: k.L, SectionA: k.A, SectionBG1: k.BG1} {
		load(len(dst), func(from, to int) error { return p.ReadG1(Section(s), from, dst[from:to]) })
	}
	load(len(k.BG2), func(from, to int) error { return p.ReadG2(from, k.BG2[from:to]) })
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return k, ctx.Err()
}

// Bytes is the memory of the key's points.
func (k *Key) Bytes() int64 {
	g1 := len(k.VK.IC) + len(k.H) + len(k.L) + len(k.A) + len(k.BG1)
	return int64(g1)*g1Bytes + int64(len(k.BG2))*g2Bytes
}

// Counts is how many points the key has.
func (k *Key) Counts() Counts {
	return Counts{IC: len(k.VK.IC), H: len(k.H), L: len(k.L), A: len(k.A), BG1: len(k.BG1), BG2: len(k.BG2)}
}

// ProverBytes is the memory that a proof of a circuit with these counts needs besides the key and
// the witness.
func (c Counts) ProverBytes() int64 {
	domain := int64(c.H) + 1
	// A multiplication takes copies of its points, of their scalars and of these in another form.
	msm := int64(min(max(c.H, c.L), msmPoints)) * (g2Bytes + 2*fr.Bytes)
	return msm + fr.Bytes*(int64(c.L)+3*domain+transformElements(domain))
}
