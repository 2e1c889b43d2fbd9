// Package circuit holds Filecoin's circuits, built of gadgets: for each kind of proof the
// constraint system, and the assignment that turns a vanilla proof into a witness of it.
//
// Systems are those of the reference, constraint by constraint, so that Filecoin's parameter files
// fit. An assignment checks the vanilla proof on its way: what it accepts satisfies the circuit. The
// statement (which challenges, which commitments) is not checked here; it ends up in the public
// inputs.
package circuit
