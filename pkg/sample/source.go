package sample

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/proofmill/proofmill/pkg/filecoin"
)

// use keeps the values of one source apart by what they are for.
type use uint8

const (
	useTicket use = iota
	useSeed
	useRandomness
	useCommC
	useData
	useReplica
	useLabel
	useTreeC
	useTreeR
)

// topMask clears the two top bits of a digest, so that it is a field element and can be data.
const topMask = 0x3f

// source gives the free values of a sample: pseudo-random nodes by what they are for and where they stand.
type source struct{ key [32]byte }

// newSource is the source of one sector of one proof.
func newSource(seed uint64, proof string, sector uint64) source {
	in := append([]byte("synthetic sector\x00"), proof...)
	in = binary.LittleEndian.AppendUint64(append(in, 0), seed)
	in = binary.LittleEndian.AppendUint64(in, sector)
	return source{key: sha256.Sum256(in)}
}

// node is the value at an index of a level.
func (s source) node(u use, level int, index uint64) filecoin.Node {
	var in [48]byte
	copy(in[:], s.key[:])
	in[32], in[33] = byte(u), byte(level) //nolint:gosec // at most 31 levels
	binary.LittleEndian.PutUint64(in[40:], index)
	n := filecoin.Node(sha256.Sum256(in[:]))
	n[31] &= topMask
	return n
}
