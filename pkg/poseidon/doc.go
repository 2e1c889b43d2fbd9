// Package poseidon is the Poseidon hash of Filecoin over the scalar field of BLS12-381.
//
// It covers the fixed-length instances that the proofs use: arity 2, 4, 8 and 11 (width arity+1), S-box x^5, 128 bits of security,
// domain tag in the first element of the state, digest in the second (Poseidon, eprint 2019/458). Round constants come from the Grain LFSR,
// the MDS matrix is a Cauchy matrix; both, and all that follows from them, are derived at first use and never stored in the source.
//
// Three evaluations of the same function live side by side:
//
//   - [Constants.HashReference] follows the paper: a full key addition and a dense matrix in each round;
//   - [Constants.Hash] is the optimised form: compressed round constants, one sparse matrix per partial round, a few partial rounds at a
//     time, sums of products reduced once;
//   - [Constants.States] is the optimised form too, and writes every variable that the circuit of one hash has.
//
// All field elements are in Montgomery form and reduced, as gnark-crypto keeps them. The package imports nothing else of the project.
package poseidon
