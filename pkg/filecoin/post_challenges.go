package filecoin

import (
	"crypto/sha256"
	"encoding/binary"
)

// PoStChallenge is a challenged leaf of a sector: a hash of randomness, sector number and challenge index. The index
// counts on over the sectors of all partitions up to API 1.1.0, and starts again at each sector in 1.2.0.
func PoStChallenge(size SectorSize, randomness [32]byte, sector, index uint64) uint64 {
	var in [48]byte
	copy(in[:], randomness[:])
	binary.LittleEndian.PutUint64(in[32:], sector)
	binary.LittleEndian.PutUint64(in[40:], index)
	digest := sha256.Sum256(in[:])
	return binary.LittleEndian.Uint64(digest[:]) % size.Nodes()
}

// SectorChallenges are the challenged leaves of the sector at place `place` of the whole statement (all partitions
// counted on), in the order of the circuit.
func (p RegisteredPoStProof) SectorChallenges(randomness [32]byte, sector uint64, place int) []uint64 {
	out := make([]uint64, p.Challenges())
	first := uint64(place) * uint64(len(out)) //nolint:gosec // a place is not negative
	if p.APIVersion() == APIv1_2_0 {
		first = 0
	}
	for i := range out {
		out[i] = PoStChallenge(p.Size(), randomness, sector, first+uint64(i))
	}
	return out
}
