// Package inputs turns requests as they travel into requests of the engine: it brings the vanilla proofs from the object store,
// checks them against their digests, and chooses those that one partition needs.
package inputs
