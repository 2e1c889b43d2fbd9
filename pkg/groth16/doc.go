// Package groth16 proves and verifies Groth16 over BLS12-381 with Filecoin's parameter files.
//
//   - [VerifyingKey], [Params] and [Proof] are the files and bytes of the reference implementation.
//   - [PreparedVerifyingKey] verifies one proof, or many at once.
//   - [Key] and [Prover] make proofs on the CPU.
//   - [Setup] makes parameters from secrets that its caller knows, and therefore for tests only;
//     [SetupFile] marks its files so that [OpenParams] refuses them in production.
//
// The proof system is that of "On the Size of Pairing-based Non-interactive Arguments"
// (https://eprint.iacr.org/2016/260). Points are encoded as Zcash does: big-endian, the three
// highest bits of the first byte are flags (compressed, infinity, sign). All field elements in
// memory are in Montgomery form.
//
// The package knows constraint systems and witnesses, and nothing of what they mean.
package groth16
