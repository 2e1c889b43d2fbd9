package gadget

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// EncodeNode makes the node of an updated replica: old + data * rho, where old is the replica's node
// before the update, data the new data's and rho the factor of this part of the sector. The product
// and the sum are a variable each.
func EncodeNode(cs *r1cs.CS, old, data, rho Num) Num {
	product := AllocNum(cs)
	cs.Enforce(data.LC(), rho.LC(), product.LC())
	return AddNum(cs, old, product)
}

// AssignEncodeNode writes what [EncodeNode] allocates and returns the new node.
func AssignEncodeNode(a *r1cs.Assigner, old, data, rho *fr.Element) fr.Element {
	var product, sum fr.Element
	product.Mul(data, rho)
	sum.Add(old, &product)
	a.Element(&product)
	a.Element(&sum)
	return sum
}
