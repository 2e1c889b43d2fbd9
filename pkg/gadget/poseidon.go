package gadget

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/poseidon"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

// Hash makes the Poseidon digest of preimage, whose length is the arity, in the domain of tag. Its
// variables and constraints are those of neptune's first circuit ("legacy"), which Filecoin's
// parameters were made for: every S-box input but those of the first round is a variable.
//
// Its assignment is [AssignHash].
func Hash(cs *r1cs.CS, tag uint8, preimage []Num) Num {
	var digest Num
	cs.Expanded(r1cs.OpHash, len(preimage), tag, func() {
		digest = hashRounds(cs, constantsOf(len(preimage), tag), preimage)
	})
	return digest
}

// AssignHash writes the assignment of [Hash] and returns the digest. It does not allocate.
func AssignHash(a *r1cs.Assigner, tag uint8, preimage []fr.Element) fr.Element {
	copy(a.NextElements(len(preimage)), preimage)
	return constantsOf(len(preimage), tag).Hash(preimage)
}

// hashRounds makes the variables and constraints of one hash.
func hashRounds(cs *r1cs.CS, c *poseidon.Constants, preimage []Num) Num {
	h := &hashState{cs: cs, c: c, keys: c.RoundConstants[2*c.Width:], rows: make([][]fr.Element, c.Width)}
	h.firstRound(preimage)
	h.mix(c.MDS)
	half := c.FullRounds / 2
	for round := 1; round < half; round++ {
		h.fullRound()
		if round < half-1 {
			h.mix(c.MDS)
		} else {
			h.mix(c.PreSparse)
		}
	}
	for i := range c.Sparse {
		h.partialRound(&c.Sparse[i])
	}
	for range half {
		h.fullRound()
		h.mix(c.MDS)
	}
	digest := AllocNum(cs)
	cs.Enforce(h.element(1), oneLC, digest.LC())
	return digest
}

// hashState is the state between two rounds. Element j is the sum of rows[j][k]*basis[k]: all are
// linear combinations of the S-box outputs of the last full round and of the partial rounds since.
type hashState struct {
	cs    *r1cs.CS
	c     *poseidon.Constants
	keys  []fr.Element // compressed round constants not yet used
	basis []r1cs.Var
	rows  [][]fr.Element
}

// element is element j of the state.
func (h *hashState) element(j int) r1cs.LC {
	lc := make(r1cs.LC, len(h.rows[j]))
	for k := range lc {
		lc[k] = r1cs.Term{Coeff: h.rows[j][k], Var: h.basis[k]}
	}
	return lc
}

// mix multiplies the basis, which are the outputs of a layer of S-boxes, by a dense matrix.
func (h *hashState) mix(m [][]fr.Element) {
	for j := range h.rows {
		h.rows[j] = h.rows[j][:0]
		for i := range h.basis {
			h.rows[j] = append(h.rows[j], m[i][j])
		}
	}
	if h.basis[0] == r1cs.One { // the first round: the tag's S-box is a constant
		tag := h.c.TagSBox()
		for j := range h.rows {
			h.rows[j][0].Mul(&h.rows[j][0], &tag)
		}
	}
}

// firstRound adds the first round constants inside the S-boxes; that of the domain tag is constant.
func (h *hashState) firstRound(preimage []Num) {
	h.basis = append(h.basis[:0], r1cs.One)
	for i, n := range preimage {
		pre, post := h.c.RoundConstants[1+i], h.c.RoundConstants[h.c.Width+1+i]
		h.basis = append(h.basis, h.powers(n.LC().AddConstant(pre), &post))
	}
}

func (h *hashState) fullRound() {
	next := make([]r1cs.Var, h.c.Width)
	for j := range next {
		next[j] = h.sBox(j)
	}
	h.basis = next
}

// partialRound is the S-box of element 0 and a sparse matrix: element 0 becomes a combination of all
// elements, the others gain a multiple of the S-box's output.
func (h *hashState) partialRound(m *poseidon.SparseMatrix) {
	out := h.sBox(0)
	first := make([]fr.Element, len(h.basis)+1)
	var t fr.Element
	for j := 1; j < len(h.rows); j++ {
		for k := range h.rows[j] {
			t.Mul(&h.rows[j][k], &m.WHat[j])
			first[k].Add(&first[k], &t)
		}
		h.rows[j] = append(h.rows[j], m.VRest[j-1])
	}
	first[len(h.basis)] = m.WHat[0]
	h.basis = append(h.basis, out)
	h.rows[0] = first
}

// sBox makes the input of element j's S-box a variable and returns the output, to which the next
// round constant is added (none is left in the last round).
func (h *hashState) sBox(j int) r1cs.Var {
	x := AllocNum(h.cs)
	h.cs.Enforce(h.element(j), oneLC, x.LC())
	var post fr.Element
	if len(h.keys) > 0 {
		post, h.keys = h.keys[0], h.keys[1:]
	}
	return h.powers(x.LC(), &post)
}

// powers makes x^2, x^4 and x^5 + post.
func (h *hashState) powers(x r1cs.LC, post *fr.Element) r1cs.Var {
	x2, x4, x5 := AllocNum(h.cs), AllocNum(h.cs), AllocNum(h.cs)
	h.cs.Enforce(x, x, x2.LC())
	h.cs.Enforce(x2.LC(), x2.LC(), x4.LC())
	var minus fr.Element
	h.cs.Enforce(x, x4.LC(), x5.LC().AddConstant(*minus.Neg(post)))
	return x5.Var
}
