// Package engine turns a proof request into witnesses and checks proofs against it, without any
// messaging: it joins filecoin (what is asked), circuit and witness (how it is assigned) and
// groth16 (whether a proof holds). Services and the command line use it alike, so that a proof made
// in one process and one made by a fleet go through the same code.
//
// [Open] decodes a request, or the part of it that one partition needs. [Job.Check] walks the
// vanilla proofs of a partition before anything is proved; [Job.Witness] assigns the circuit;
// [Job.Verify] checks proofs against public inputs that are derived from the request alone.
package engine
