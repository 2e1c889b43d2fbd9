// Package filecoin holds what the pipeline has to know of Filecoin's proofs: which proofs are registered and for which
// sector shapes, how vanilla proofs arrive (the C1 JSON of PoRep, the bincode of PoSt and SnapDeals), which challenges a
// statement fixes, what is public in it, and whether a vanilla proof holds before anything is proved of it.
//
// A statement (SealStatement, PoStStatement, UpdateStatement) is what a caller claims, in public values only. Public
// inputs and challenges are derived from it alone, so a verifier never has to trust a vanilla proof. A vanilla proof
// (SealCommit, PoStSectorProof, UpdateProof) is the private side; the Check functions compare the two.
//
// All 32-byte values (tree nodes, commitments, ids) are little-endian as in the reference implementation,
// rust-fil-proofs. The proofs themselves are described in the Filecoin specification (Stacked DRG PoRep, PoSt),
// FIP-0019 (SnapDeals), FIP-0059 (synthetic PoRep), FIP-0084 (Poseidon update challenges) and FIP-0090 (non-interactive
// PoRep).
//
// Nothing here starts a goroutine, keeps state or logs. Values returned by decoders own their memory and never alias
// the decoded bytes.
package filecoin
