package gadget

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// Column makes a column of a replica, the labels of one node in each layer, first layer first, and
// the hash that tree C has of it. Its assignment is [AssignColumn].
func Column(cs *r1cs.CS, layers int) (rows []Num, hash Num) {
	rows = AllocNums(cs, layers)
	return rows, ColumnHash(cs, rows)
}

// AssignColumn writes the assignment of [Column] and returns the hash. It does not allocate.
func AssignColumn(a *r1cs.Assigner, rows []fr.Element) fr.Element {
	copy(a.NextElements(len(rows)), rows)
	return AssignColumnHash(a, rows)
}

// ColumnHash makes the hash of a column whose rows are variables: Poseidon of as many elements as
// there are layers. Its assignment is [AssignColumnHash].
func ColumnHash(cs *r1cs.CS, rows []Num) Num { return Hash(cs, TagMerkleTree, rows) }

// AssignColumnHash writes the assignment of [ColumnHash] and returns the hash. It does not allocate.
func AssignColumnHash(a *r1cs.Assigner, rows []fr.Element) fr.Element {
	return AssignHash(a, TagMerkleTree, rows)
}
