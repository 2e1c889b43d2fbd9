// Package gadget holds the parts that Filecoin's circuits are built of, one in a file: its
// constraints, made against [r1cs.CS], and beside them its assignment, which writes the same
// variables in the same order to an [r1cs.Assigner], a word at a time.
//
// Constraints and variables are exactly those of the reference (bellpepper, neptune,
// storage-proofs), since the parameter files were made for them. Where a run of variables follows
// from a few values, as the inner states of a Poseidon hash do, the gadget makes it an expanded
// segment and the assignment writes only those values; [Expand] recomputes the run.
//
// The package knows nothing of vanilla proofs, messages or provers.
package gadget
