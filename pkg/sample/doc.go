// Package sample makes consistent synthetic sectors of any size without sealing them: their vanilla proofs, as a storage
// provider sends them, and the statements that the proofs are of. All that a verifier looks at holds: every path hashes
// to its root, every label to its parents, every commitment to its roots, and the challenges are those of the statement.
// What a verifier never sees is not there.
//
// Two kinds of trees make this possible. Where a statement's challenges depend on less than the tree's root (both PoSts,
// interactive PoRep), the tree is sparse: opened leaves are computed, and each subtree without any is one pseudo-random
// node. Where challenges depend on the root itself (the data of a PoRep, whose commitment is in the replica id, and all
// trees of an update), the tree is regular: leaves depend on few bits of their index, so that few nodes differ and any
// leaf can be opened once the root is known.
//
// Synthetic and non-interactive PoReps draw their challenges from comm_r, which commits to the labels of the challenged
// nodes: no shorter way than to label the whole sector is known, and the security of the proof rests on that. Such
// samples are sealed in earnest, and exist up to [MaxSealed].
//
// Everything is a function of the registered proof, the seed and the other [Options].
package sample
