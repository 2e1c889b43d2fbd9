// Package witness holds the compact form of a circuit's assignment and turns it into all values.
//
// A [Witness] has the public inputs and two streams for each instance of each block: packed bits
// and field elements. What they mean is said by the block's segments (see package r1cs): a bit or
// an element is a variable as it is, and expanded segments recompute many variables from the few
// elements that they read. An instance starts at a new 64-bit word and takes the same room as
// every other instance of its block, so that all of them can be written, read and expanded
// independently of each other.
//
// [Encode] and [Decode] are the blob: the witness as bytes with a header that names the circuit,
// and a digest over all. The blob is what synth stores and a prover reads.
package witness
