package filecoin

import (
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/chacha20"
)

// maxSynthetic is the size of the synthetic challenge set of large sectors.
const maxSynthetic = 1 << 18

// nonInteractiveTag starts the hash of non-interactive challenges (FIP-0090).
const nonInteractiveTag = "filecoin.io|PoRep|1|NonInteractive|1"

// PoRepDomain is what fixes graph, challenges and circuit of a PoRep. A registered proof has one (see Domain); records of
// the reference's own tests use others.
type PoRepDomain struct {
	Size    SectorSize
	Variant SealVariant
	Version APIVersion
	ID      [32]byte // the PoRep id
}

// Domain is the domain that p registers.
func (p RegisteredSealProof) Domain() PoRepDomain {
	return PoRepDomain{Size: p.Size(), Variant: p.Variant(), Version: p.APIVersion(), ID: p.PoRepID()}
}

// Graph is the graph of the domain.
func (d PoRepDomain) Graph() *Graph { return NewGraph(d.Size, d.ID, d.Version) }

// Challenges are the challenged nodes of partition k, none of them node 0. Interactive challenges depend on replica id
// and seed; synthetic ones also on comm_r; non-interactive ones on replica id and comm_r alone.
func (d PoRepDomain) Challenges(replicaID, commR Node, seed [32]byte, k int) []uint64 {
	per := d.Size.PoRepChallenges()
	first := uint32(per * k) //nolint:gosec // at most 18 times 126
	out := make([]uint64, per)
	switch d.Variant {
	case SealSynthetic:
		d.synthetic(out, replicaID, commR, seed, k)
	case SealNonInteractive:
		prefix := append([]byte(nonInteractiveTag), replicaID[:]...)
		d.counted(out, append(prefix, commR[:]...), first)
	default:
		d.counted(out, append(replicaID[:], seed[:]...), first)
	}
	return out
}

// counted hashes prefix and a counter for each challenge.
func (d PoRepDomain) counted(out []uint64, prefix []byte, first uint32) {
	n := len(prefix)
	in := make([]byte, n+4)
	copy(in, prefix)
	for i := range out {
		binary.LittleEndian.PutUint32(in[n:], first+uint32(i))
		digest := sha256.Sum256(in)
		out[i] = d.challenge(&digest)
	}
}

// synthetic picks challenges from the synthetic set: one keystream (of the seed) selects indices into another (of comm_r).
func (d PoRepDomain) synthetic(out []uint64, replicaID, commR Node, seed [32]byte, k int) {
	set := min(d.Size.Nodes(), maxSynthetic)
	indices := make([]byte, 4*len(out))
	keystream("filecoin.io|PoRep|1|Synthetic|1|Selection", replicaID, seed, 4*k*len(out), indices)
	key := syntheticKey("filecoin.io|PoRep|1|Synthetic|1|Generation", replicaID, commR)
	for i := range out {
		index := uint64(binary.LittleEndian.Uint32(indices[4*i:])) % set
		var digest [32]byte
		keystreamAt(key, int(index)*32, digest[:]) //nolint:gosec // below 2^18
		out[i] = d.challenge(&digest)
	}
}

// challenge reduces 256 little-endian bits to a node other than the first.
func (d PoRepDomain) challenge(digest *[32]byte) uint64 {
	m := d.Size.Nodes() - 1 // below 2^31, so that a limb fits beside a remainder
	var rem uint64
	for i := 28; i >= 0; i -= 4 {
		rem = (rem<<32 | uint64(binary.LittleEndian.Uint32(digest[i:]))) % m
	}
	return rem + 1
}

func syntheticKey(tag string, replicaID Node, second [32]byte) [32]byte {
	h, err := blake2b.New256([]byte(tag))
	if err != nil {
		panic(fmt.Sprintf("filecoin: BLAKE2b refuses a constant key of %d bytes: %v", len(tag), err))
	}
	h.Write(replicaID[:])
	h.Write(second[:])
	return [32]byte(h.Sum(nil))
}

func keystream(tag string, replicaID Node, second [32]byte, offset int, out []byte) {
	keystreamAt(syntheticKey(tag, replicaID, second), offset, out)
}

// keystreamAt writes the ChaCha20 keystream from a byte offset into out, which it overwrites.
func keystreamAt(key [32]byte, offset int, out []byte) {
	c, err := chacha20.NewUnauthenticatedCipher(key[:], []byte("synth-porep\x00"))
	if err != nil {
		panic(fmt.Sprintf("filecoin: ChaCha20 refuses key and nonce of constant size: %v", err))
	}
	c.SetCounter(uint32(offset / 64)) //nolint:gosec // below 2^17
	var stream cipher.Stream = c
	var skipped [64]byte
	stream.XORKeyStream(skipped[:offset%64], skipped[:offset%64])
	clear(out)
	stream.XORKeyStream(out, out)
}
