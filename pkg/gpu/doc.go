// Package gpu makes Groth16 proofs on NVIDIA GPUs with Proofmill's CUDA library, which it loads at run time: the same binary
// runs where there is no GPU, and there [Open] says with an error that wraps [ErrUnavailable] what is missing.
//
// A [Library] lists devices and opens a [Device]. On a device a [Circuit] holds a constraint system as the kernels read it, a
// [Key] the points of a parameter file, with multiples of some where memory allows, and a [Prover] both with the memory of the proofs in
// flight. Memory on the device is taken in named reservations from a [Ledger] with a budget, all before the first proof, so that a proof
// never fails for want of it.
//
// A proof takes the compact witness up and five points down. Between, the device expands the witness, evaluates the matrices,
// computes the quotient and the sums; the few operations with the proof's randomness are done on the processor.
//
// A fault of a device poisons its [Device] and nothing else: all later calls fail with an error that wraps [ErrPoisoned], the work
// can be given back, and the process should open the device anew or end.
package gpu
