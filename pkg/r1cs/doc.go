// Package r1cs holds rank-1 constraint systems over the scalar field of BLS12-381 as a few small
// blocks, each repeated many times.
//
// A constraint is <A, z> * <B, z> = <C, z>, where z is the assignment: the inputs (input 0 is the
// constant one) and the auxiliary variables. Filecoin's circuits repeat themselves: all challenges
// of a PoRep partition have the same constraints over variables that lie a fixed distance apart. A
// [Block] therefore keeps the sparse rows of one instance, how often it repeats, and by how much
// its own variables and inputs move each time. Columns that lie outside an instance are either
// shared (they do not move) or moving (by a stride or by a table, see [Column]).
//
// Circuits are written against [CS], one block at a time, through a [Builder]. While a circuit
// allocates variables it also says how each is produced from a compact witness (see [Segment]); the
// witness package writes and expands that form. The last constraints of every system are
// input_i * 0 = 0, one for each input; they are not stored but counted, evaluated and digested.
//
// The digest of a system (see [System.Digest]) identifies it exactly: the same constraints in the
// same order with the same variables and coefficients.
//
// Systems are immutable once built and may be shared by any number of goroutines.
package r1cs
