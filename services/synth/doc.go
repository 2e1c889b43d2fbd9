// Package synth is the service that turns vanilla proofs into witnesses. It takes one partition job at a time in each of its slots,
// checks the vanilla proofs, assigns the circuit, stores the witness as a blob and publishes the job to prove it. The synth job is
// removed only after both are stored, so that a process may die at any point: the partition is then made again, and of two prove
// jobs for the same attempt the stream keeps the first.
package synth
