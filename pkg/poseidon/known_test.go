package poseidon

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// TestRecordedDigests compares the digests of 0, 1, 2 ... with those that neptune records.
func TestRecordedDigests(t *testing.T) {
	for arity, limbs := range map[int][4]uint64{
		2:  {0x2e203c369a02e7ff, 0xa6fba9339d05a69d, 0x739e0fd902efe161, 0x396508d75e76a56b},
		4:  {0x019814ff6662075d, 0xfb6b4605bf1327ec, 0x00db3c6579229399, 0x58a54b10a9e5848a},
		8:  {0x2a9934f56d38a5e6, 0x4b682e9d9cc4aed9, 0x1201004211677077, 0x2394611da3a5de55},
		11: {0xcee3bbc32b693163, 0x09f3dcd8ccb08fc1, 0x6ca537e232ebe87a, 0x0c0fc1b2e5227f28},
	} {
		in := make([]fr.Element, arity)
		for i := range in {
			in[i].SetUint64(uint64(i))
		}
		digest := For(arity).Hash(in)
		if got := digest.Bits(); got != limbs {
			t.Errorf("arity %d: digest %x, expected %x", arity, got, limbs)
		}
	}
}

// TestSealedSectors follows every Merkle path of the WinningPoSt vanilla proofs of two sealed sectors, and comm_r = H(comm_c, comm_r_last).
func TestSealedSectors(t *testing.T) {
	for _, tc := range []struct {
		file    string
		arities []int
	}{
		{"2KiB/winning-2KiB.sector-10.vanilla.bin", []int{8, 8}},
		{"32KiB/winning-32KiB.sector-10.vanilla.bin", []int{8, 8, 8, 2}},
	} {
		t.Run(tc.file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "golden", tc.file))
			if err != nil {
				t.Fatal(err)
			}
			r := reader{t: t, rest: data}
			r.skip(8) // sector number
			commR := r.element()
			r.skip(8)
			proofs := r.length()
			var commRLast fr.Element
			for range proofs {
				commRLast = r.path(tc.arities)
			}
			commC := r.element()
			if got := For(2).Hash([]fr.Element{commC, commRLast}); got != commR {
				t.Errorf("comm_r %s, expected %s", got.String(), commR.String())
			}
		})
	}
}

// reader takes apart the bincode form of a vanilla proof; it trusts its input.
type reader struct {
	t    *testing.T
	rest []byte
}

func (r *reader) skip(n int) []byte {
	if n > len(r.rest) {
		r.t.Fatalf("%d bytes are missing", n-len(r.rest))
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) length() int { return int(binary.LittleEndian.Uint64(r.skip(8))) }

func (r *reader) element() fr.Element {
	e, err := fr.LittleEndian.Element((*[32]byte)(r.skip(32)))
	if err != nil {
		r.t.Fatal(err)
	}
	return e
}

// path checks one Merkle path and returns its root. A path of one tree holds its root and leaf in front, a path of nested trees (base, sub,
// top) behind its elements.
func (r *reader) path(arities []int) fr.Element {
	type step struct {
		siblings []fr.Element
		index    int
	}
	var steps []step
	var root, cur fr.Element
	nested := binary.LittleEndian.Uint32(r.skip(4)) != 0
	if !nested {
		root, cur = r.element(), r.element()
	}
	for len(steps) < len(arities) {
		for range r.length() {
			s := step{siblings: make([]fr.Element, r.length())}
			for i := range s.siblings {
				s.siblings[i] = r.element()
			}
			s.index = r.length()
			steps = append(steps, s)
		}
	}
	if nested {
		root, cur = r.element(), r.element()
	}
	for i, s := range steps {
		cur = For(arities[i]).Hash(slices.Insert(s.siblings, s.index, cur))
	}
	if cur != root {
		r.t.Fatalf("root %s, expected %s", cur.String(), root.String())
	}
	return root
}
