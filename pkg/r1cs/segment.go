package r1cs

import "fmt"

// Op says how a run of variables is produced from a witness's streams: packed bits and field
// elements. See the witness package for the exact expansion of each.
type Op uint8

const (
	// OpBits is a run of variables that are 0 or 1, one bit each.
	OpBits Op = iota
	// OpElements is a run of variables with arbitrary values, one element each.
	OpElements
	// OpHash is one Poseidon hash: the variables of its S-boxes and its digest, from the preimage's
	// Arity elements.
	OpHash
	// OpMerkleStep is one level of a Poseidon Merkle path: log2(Arity) index bits, Arity-1
	// siblings, the variables of the insertion, the hash. From log2(Arity) bits and Arity elements:
	// the walked node, then its siblings.
	OpMerkleStep
	// OpMerkleStepGivenIndex is OpMerkleStep where the index bits and the siblings are variables made
	// earlier: both are read but make no variables.
	OpMerkleStepGivenIndex
	numOps
)

// String names the operation.
func (o Op) String() string {
	if o >= numOps {
		return fmt.Sprintf("op(%d)", uint8(o))
	}
	return [...]string{"bits", "elements", "hash", "merkle step", "merkle step, index given"}[o]
}

// Segment is a run of consecutive auxiliary variables of an instance that one operation produces.
type Segment struct {
	Op    Op
	Arity uint8 // of the hash; 0 for OpBits and OpElements
	Tag   uint8 // which domain of the hash; 0 is that of Merkle trees
	Count uint32
}
