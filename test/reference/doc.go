// Package reference compares this project with the reference implementation itself: a program over
// filecoin-proofs and bellperson, found by the environment variable PROOFMILL_ORACLE. It holds only
// tests and benchmarks, which are left out where that program is not.
package reference
