package gadget

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// EncodeReplica makes a node of the replica: the sum of its key, the node's label in the last layer,
// and the data. Its assignment is [AssignEncodeReplica].
func EncodeReplica(cs *r1cs.CS, key, data Num) Num { return AddNum(cs, key, data) }

// AssignEncodeReplica writes the assignment of [EncodeReplica] and returns the replica's node.
func AssignEncodeReplica(a *r1cs.Assigner, key, data *fr.Element) fr.Element {
	var sum fr.Element
	sum.Add(key, data)
	a.Element(&sum)
	return sum
}
