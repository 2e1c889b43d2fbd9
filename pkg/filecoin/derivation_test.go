package filecoin

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"math/bits"
	"os"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"golang.org/x/crypto/chacha20"
	"pgregory.net/rapid"
)

func TestDerivationsOfTheReference(t *testing.T) {
	raw, err := os.ReadFile("testdata/derivations.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		ReplicaID string `json:"replica_id"`
		Seed      string `json:"seed"`
		CommR     string `json:"comm_r"`
		CommD     string `json:"comm_d"`
		Seals     []struct {
			Proof      RegisteredSealProof `json:"proof"`
			Partition  int                 `json:"partition"`
			Challenges []uint64            `json:"challenges"`
			Parents    [][]uint32          `json:"parents"`
		} `json:"seals"`
		Updates []struct {
			Proof      RegisteredUpdateProof `json:"proof"`
			Partition  int                   `json:"partition"`
			Challenges []uint64              `json:"challenges"`
			Phi        string                `json:"phi"`
			Rho        string                `json:"rho"`
		} `json:"updates"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Seals) != 31 || len(file.Updates) != 9 {
		t.Fatalf("%d seals and %d updates", len(file.Seals), len(file.Updates))
	}
	replicaID, seed, commR, commD := unhex(t, file.ReplicaID), unhex(t, file.Seed), unhex(t, file.CommR), unhex(t, file.CommD)
	for _, s := range file.Seals {
		d := s.Proof.Domain()
		if got := d.Challenges(replicaID, commR, seed, s.Partition); !slices.Equal(got, s.Challenges) {
			t.Errorf("%s, partition %d: challenges %v, the reference has %v", s.Proof, s.Partition, got, s.Challenges)
		}
		for i, want := range s.Parents {
			drg, exp := d.Graph().DRGParents(s.Challenges[i]), d.Graph().ExpParents(s.Challenges[i])
			if got := append(drg[:], exp[:]...); !slices.Equal(got, want) {
				t.Errorf("%s: parents of node %d: %v, the reference has %v", s.Proof, s.Challenges[i], got, want)
			}
		}
	}
	for _, u := range file.Updates {
		st := &UpdateStatement{Proof: u.Proof, CommROld: replicaID, CommRNew: commR, CommDNew: commD}
		if got, err := st.Challenges(u.Partition); err != nil || !slices.Equal(got, u.Challenges) {
			t.Errorf("%s, partition %d: challenges %v, the reference has %v: %v", u.Proof, u.Partition, got, u.Challenges, err)
		}
		phi, err := st.Phi()
		if err != nil || NodeOf(&phi) != unhex(t, u.Phi) {
			t.Errorf("%s: phi %s, the reference has %s: %v", u.Proof, NodeOf(&phi), u.Phi, err)
		}
		if rho := st.Rho(phi, u.Challenges[0]); NodeOf(&rho) != unhex(t, u.Rho) {
			t.Errorf("%s: rho %s, the reference has %s", u.Proof, NodeOf(&rho), u.Rho)
		}
	}
}

// The first block of ChaCha with 8 rounds, key and nonce zero, as the eSTREAM test vectors list it.
func TestChacha8(t *testing.T) {
	const want = "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42"
	c := newChacha8(&[32]byte{})
	var got []byte
	for range 8 {
		got = binary.LittleEndian.AppendUint64(got, c.uint64())
	}
	if hex.EncodeToString(got) != want {
		t.Errorf("%x", got)
	}
}

// The 20-round cipher of x/crypto gives what ours gives with 20 rounds: block counter and addition are right over blocks.
func TestChachaBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key"))
		c, err := chacha20.NewUnauthenticatedCipher(key[:], make([]byte, 12))
		if err != nil {
			t.Fatal(err)
		}
		want := make([]byte, 256)
		c.XORKeyStream(want, want)
		ours := newChacha8(&key)
		var got []byte
		for len(got) < len(want) {
			if ours.used == len(ours.block) {
				ours.refill(10)
			}
			got = binary.LittleEndian.AppendUint64(got, ours.uint64())
		}
		if !bytes.Equal(want, got) {
			t.Fatalf("%x, x/crypto has %x", got, want)
		}
	})
}

func TestFeistelPermutes(t *testing.T) {
	for _, elements := range []uint64{4, 5, 8, 64 * ExpDegree, 1000} {
		f := feistel{keys: [4]uint64{1, 2, 3, 4}, elements: elements, halfBits: halfBits(elements)}
		seen := make([]bool, elements)
		for i := range elements {
			image := f.permute(i)
			if image >= elements || seen[image] {
				t.Fatalf("%d of %d goes to %d, out of range or taken", i, elements, image)
			}
			seen[image] = true
		}
	}
}

func TestParentsAreBefore(t *testing.T) {
	for v := range sealVariants {
		for _, size := range SectorSizes() {
			p, err := SealProofFor(v, size)
			if err != nil {
				t.Fatal(err)
			}
			g := p.Graph()
			rapid.Check(t, func(t *rapid.T) {
				node := rapid.Uint64Range(0, size.Nodes()-1).Draw(t, "node")
				predecessor := false
				for _, parent := range g.DRGParents(node) {
					if uint64(parent) >= max(node, 1) {
						t.Fatalf("%s: node %d has DRG parent %d", p, node, parent)
					}
					predecessor = predecessor || uint64(parent)+1 == node
				}
				if node > 0 && !predecessor {
					t.Fatalf("%s: node %d lacks its predecessor", p, node)
				}
				for _, parent := range g.ExpParents(node) {
					if uint64(parent) >= size.Nodes() {
						t.Fatalf("%s: node %d has expander parent %d", p, node, parent)
					}
				}
			})
		}
	}
}

// The number of buckets is what the reference computes in floating point.
func TestBucketsEqualFloatingPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		meta := rapid.Uint64Range(2, Size64GiB.Nodes()-1).Draw(t, "node") * (DRGDegree - 1)
		if got, want := bits.Len64(meta-1), int(math.Ceil(math.Log2(float64(meta)))); got != want {
			t.Fatalf("%d buckets of %d, floating point says %d", got, meta, want)
		}
	})
}

func TestChallengeEqualsBigInteger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom(SectorSizes()).Draw(t, "size")
		digest := [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "digest"))
		reversed := bytes.Clone(digest[:])
		slices.Reverse(reversed)
		want := new(big.Int).Mod(new(big.Int).SetBytes(reversed), new(big.Int).SetUint64(size.Nodes()-1))
		if got := (PoRepDomain{Size: size}).challenge(&digest); got != want.Uint64()+1 {
			t.Fatalf("%x modulo %d: %d, big integers say %d", digest, size.Nodes()-1, got, want.Uint64()+1)
		}
	})
}

func TestBitRangeEqualsBigInteger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Uint64(), 4, 4).Draw(t, "words")
		words := [4]uint64(raw)
		n := rapid.IntRange(1, 32).Draw(t, "bits")
		from := rapid.IntRange(0, 254-n).Draw(t, "from")
		v := new(big.Int)
		for i := 3; i >= 0; i-- {
			v.Add(v.Lsh(v, 64), new(big.Int).SetUint64(words[i]))
		}
		want := new(big.Int).And(new(big.Int).Rsh(v, uint(from)), big.NewInt(1<<n-1))
		if got := bitRange(&words, from, n); got != want.Uint64() {
			t.Fatalf("bits %d to %d of %x: %d, big integers say %d", from, from+n, words, got, want.Uint64())
		}
	})
}

// Seeking in the keystream equals generating it from the start.
func TestKeystreamAt(t *testing.T) {
	key := [32]byte{1, 2, 3}
	whole := make([]byte, 1000)
	keystreamAt(key, 0, whole)
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(0, len(whole)).Draw(t, "from")
		to := rapid.IntRange(from, len(whole)).Draw(t, "to")
		part := bytes.Repeat([]byte{0xaa}, to-from)
		keystreamAt(key, from, part)
		if !bytes.Equal(part, whole[from:to]) {
			t.Fatalf("bytes %d to %d differ", from, to)
		}
	})
}

func TestProverIDs(t *testing.T) {
	for miner, want := range map[uint64]string{0: "00", 1: "01", 127: "7f", 128: "8001", 1001: "e907", 1<<64 - 1: "ffffffffffffffffff01"} {
		id := ProverID(miner)
		if got := hex.EncodeToString(id[:len(want)/2]); got != want || !bytes.Equal(id[len(want)/2:], make([]byte, 32-len(want)/2)) {
			t.Errorf("prover id of miner %d: %x", miner, id)
		}
	}
}

func TestElements(t *testing.T) {
	modulus := fr.Modulus()
	for d, ok := range map[int64]bool{-1: true, 0: false, 1: false} {
		var n Node
		new(big.Int).Add(modulus, big.NewInt(d)).FillBytes(n[:])
		slices.Reverse(n[:])
		e, err := n.Element()
		if (err == nil) != ok {
			t.Errorf("modulus and %d: %v", d, err)
		}
		if ok && NodeOf(&e) != n {
			t.Errorf("modulus and %d comes back as %s", d, NodeOf(&e))
		}
	}
}
