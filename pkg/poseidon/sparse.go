package poseidon

import "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

// SparseMatrix is the linear layer of one partial round: a matrix whose first column and first row are dense and whose minor is the identity.
// A state e becomes e' with e'[0] = sum of e[i]*WHat[i], and e'[j] = e[j] + e[0]*VRest[j-1] for j > 0.
type SparseMatrix struct {
	WHat  []fr.Element // first column, width elements
	VRest []fr.Element // first row without its first element, width-1 elements
}

// factorSparse replaces the dense matrices of the partial rounds by sparse ones (eprint 2019/458, appendix B). Working from the last
// partial round back, the round's matrix is split as M' * M” with M” sparse; M' commutes with the partial S-box and joins the matrix of
// the round before. What is left over in front of the first partial round is the pre-sparse matrix. The result is in the order of use.
func factorSparse(mds matrix, partialRounds int) (preSparse matrix, sparse []SparseMatrix) {
	sparse = make([]SparseMatrix, partialRounds)
	cur := mds
	for round := partialRounds - 1; round >= 0; round-- {
		hat := cur.minor()
		column := make([]fr.Element, len(hat))
		for i := range column {
			column[i] = cur[i+1][0]
		}
		sparse[round] = SparseMatrix{
			WHat:  append([]fr.Element{cur[0][0]}, hat.inverse().apply(column)...),
			VRest: append([]fr.Element(nil), cur[0][1:]...),
		}
		prime := identity(len(cur))
		for i := range hat {
			copy(prime[i+1][1:], hat[i])
		}
		cur = mds.mul(prime)
	}
	return cur, sparse
}

// compressConstants moves the round constants behind the S-boxes: each full round adds width of them after its S-boxes (the first also
// before), each partial round one, the last round none. A key that is added in front of a linear layer is the inverse of the layer
// applied to the key behind it; in the partial rounds only the first element is kept and the rest moves on to the round before.
func compressConstants(keys []fr.Element, mds matrix, fullRounds, partialRounds int) []fr.Element {
	width, half := len(mds), fullRounds/2
	inverse := mds.inverse()
	key := func(round int) []fr.Element { return keys[round*width : (round+1)*width] }

	out := make([]fr.Element, 0, width*fullRounds+partialRounds)
	out = append(out, key(0)...)
	for round := 1; round < half; round++ {
		out = append(out, inverse.apply(key(round))...)
	}
	partial := make([]fr.Element, partialRounds)
	acc := key(half + partialRounds)
	for i := partialRounds - 1; i >= 0; i-- {
		acc = inverse.apply(acc)
		partial[i] = acc[0]
		acc[0].SetZero()
		for j, k := range key(half + i) {
			acc[j].Add(&acc[j], &k)
		}
	}
	out = append(out, inverse.apply(acc)...)
	out = append(out, partial...)
	for round := half + partialRounds + 1; round < fullRounds+partialRounds; round++ {
		out = append(out, inverse.apply(key(round))...)
	}
	return out
}
