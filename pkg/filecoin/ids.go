package filecoin

import (
	"crypto/sha256"
	"encoding/binary"
)

// ProverID is a miner's actor id as proofs use it: unsigned LEB128, zero-padded to 32 bytes.
func ProverID(miner uint64) [32]byte {
	var id [32]byte
	binary.PutUvarint(id[:], miner)
	return id
}

// ReplicaID is the domain of a replica: SHA-256 of prover id, sector number (big-endian), ticket, comm_d and PoRep id,
// with the two top bits cleared.
func ReplicaID(proverID [32]byte, sector uint64, ticket [32]byte, commD Node, porepID [32]byte) Node {
	var in [32 + 8 + 32 + 32 + 32]byte
	copy(in[:], proverID[:])
	binary.BigEndian.PutUint64(in[32:], sector)
	copy(in[40:], ticket[:])
	copy(in[72:], commD[:])
	copy(in[104:], porepID[:])
	id := Node(sha256.Sum256(in[:]))
	id[31] &= topMask
	return id
}
