package filecoin

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"

	"golang.org/x/crypto/blake2b"
)

// Graph is the stacked graph of a replica: for each node its parents in its own layer (a depth robust graph by bucket
// sampling) and in the layer before (an expander by a Feistel permutation). It is immutable and cheap to make; methods
// may be called concurrently.
type Graph struct {
	nodes   uint64
	version APIVersion
	drgSeed [28]byte
	feistel feistel
}

// NewGraph is the graph of a size in the domain of a PoRep id.
func NewGraph(size SectorSize, porepID [32]byte, version APIVersion) *Graph {
	g := &Graph{nodes: size.Nodes(), version: version}
	seed := domainSeed("Filecoin_DRSample", porepID)
	copy(g.drgSeed[:], seed[:])
	keys := domainSeed("Filecoin_Feistel", porepID)
	for i := range g.feistel.keys {
		g.feistel.keys[i] = binary.LittleEndian.Uint64(keys[8*i:])
	}
	g.feistel.elements = g.nodes * ExpDegree
	g.feistel.halfBits = halfBits(g.feistel.elements)
	return g
}

// Graph is the graph that p's replicas are labelled over.
func (p RegisteredSealProof) Graph() *Graph { return NewGraph(p.Size(), p.PoRepID(), p.APIVersion()) }

func domainSeed(tag string, porepID [32]byte) [32]byte {
	return sha256.Sum256(append([]byte(tag), porepID[:]...))
}

// DRGParents are the parents of a node in its own layer, in the order in which labels hash them. Node 0 and 1 have node 0
// six times. API 1.0.0 puts the predecessor last, later versions first.
func (g *Graph) DRGParents(node uint64) [DRGDegree]uint32 {
	var parents [DRGDegree]uint32
	if node < 2 {
		return parents
	}
	var seed [32]byte
	copy(seed[:], g.drgSeed[:])
	binary.LittleEndian.PutUint32(seed[28:], uint32(node)) //nolint:gosec // a sector has at most 2^31 nodes
	rng := newChacha8(&seed)

	predecessor, others := 0, parents[1:]
	if g.version == APIv1_0_0 {
		predecessor, others = DRGDegree-1, parents[:DRGDegree-1]
	}
	// Each node stands for five nodes of a metagraph in which every node draws one parent.
	const perNode = DRGDegree - 1
	meta := node * perNode
	buckets := uint64(bits.Len64(meta - 1)) //nolint:gosec // ceil(log2(meta)), at most 64
	for i := range others {
		bucket := rng.uint64()%buckets + 1
		largest := min(meta, 1<<bucket)
		smallest := max(2, largest>>1)
		distance := smallest + rng.uint64()%(largest-smallest+1)
		parent := (meta - distance) / perNode
		if parent == node {
			parent--
		}
		others[i] = uint32(parent) //nolint:gosec // at most node
	}
	parents[predecessor] = uint32(node - 1) //nolint:gosec // at most node
	return parents
}

// ExpParents are the parents of a node in the layer before, in the order in which labels hash them. In API 1.0.0 the
// permuted index was cut to 32 bits, which large sectors have to reproduce.
func (g *Graph) ExpParents(node uint64) [ExpDegree]uint32 {
	var parents [ExpDegree]uint32
	for i := range parents {
		image := g.feistel.permute(node*ExpDegree + uint64(i))
		if g.version == APIv1_0_0 {
			image &= 1<<32 - 1
		}
		parents[i] = uint32(image / ExpDegree)
	}
	return parents
}

// feistel permutes the numbers below elements by three Feistel rounds, walking on until the image is in range.
type feistel struct {
	keys     [4]uint64
	elements uint64
	halfBits uint
}

// halfBits is half of the least even number of bits, two or more, that numbers below elements fit.
func halfBits(elements uint64) uint {
	half, reach := uint(1), uint64(4)
	for reach < elements {
		half, reach = half+1, reach*4
	}
	return half
}

func (f *feistel) permute(index uint64) uint64 {
	for {
		if index = f.encode(index); index < f.elements {
			return index
		}
	}
}

func (f *feistel) encode(index uint64) uint64 {
	mask := uint64(1)<<f.halfBits - 1
	left, right := index>>f.halfBits&mask, index&mask
	for _, key := range f.keys[:3] {
		var in [16]byte
		binary.BigEndian.PutUint64(in[:], right)
		binary.BigEndian.PutUint64(in[8:], key)
		out := blake2b.Sum512(in[:])
		left, right = right, left^binary.BigEndian.Uint64(out[:])&mask
	}
	return left<<f.halfBits | right
}
