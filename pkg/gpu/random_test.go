package gpu

import (
	"math/rand/v2"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/gadget"
	"github.com/proofmill/proofmill/pkg/r1cs"
	"github.com/proofmill/proofmill/pkg/witness"
)

// randomElement is now and then zero, one or minus one.
func randomElement(g *rand.Rand) (e fr.Element) {
	switch g.IntN(6) {
	case 0:
	case 1:
		e.SetOne()
	case 2:
		e.SetOne()
		e.Neg(&e)
	default:
		var b [fr.Bytes]byte
		for i := range b {
			b[i] = byte(g.Uint32())
		}
		e.SetBytes(b[:])
	}
	return e
}

// randomSystem makes a system of some blocks with variables of every kind; each is in some constraint. Rows are as short and as long as
// those of real circuits. gadgets says whether hashes may be in it, which have hundreds of constraints.
func randomSystem(g *rand.Rand, gadgets bool) *r1cs.System {
	b := r1cs.NewBuilder()
	var shared []r1cs.Var
	var moving [][]r1cs.Var
	for range 1 + g.IntN(3) {
		repeat := []int{1, 1, 2, 3, 33}[g.IntN(5)]
		if gadgets {
			repeat = 1 + g.IntN(3)
		}
		var own []r1cs.Var
		ref := b.Block("block", repeat, func(cs *r1cs.CS) {
			vars := append([]r1cs.Var{r1cs.One}, shared...)
			for _, at := range moving {
				if len(at) >= repeat {
					vars = append(vars, cs.Moving(at[:repeat]))
				}
			}
			add := func(v r1cs.Var) {
				own = append(own, v)
				vars = append(vars, v)
			}
			for range 1 + g.IntN(4) {
				switch g.IntN(4) {
				case 0:
					add(cs.AllocInput())
				case 1:
					for range 1 + g.IntN(100) {
						add(cs.AllocBit())
					}
				case 2:
					for range 1 + g.IntN(5) {
						add(cs.AllocElement())
					}
				default:
					if gadgets {
						own = append(own, randomGadget(cs, g)...)
					}
				}
			}
			lc := func(terms int) (lc r1cs.LC) {
				for range terms {
					c := randomElement(g)
					lc = lc.AddScaled(c, vars[g.IntN(len(vars))])
				}
				return lc
			}
			terms := []int{0, 1, 2, 3, 23, 24, 25, 31, 32, 33, 100}
			for range 1 + g.IntN(300) {
				cs.Enforce(lc(terms[g.IntN(len(terms))]), lc(terms[g.IntN(4)]), nil)
			}
			for _, v := range own {
				cs.Enforce(r1cs.LCOf(v), r1cs.LCOf(r1cs.One), r1cs.LCOf(v))
			}
		})
		if len(own) > 0 {
			at := make([]r1cs.Var, repeat)
			pick := own[g.IntN(len(own))]
			for i := range at {
				at[i] = ref.At(i, pick)
			}
			g.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
			moving = append(moving, at)
			shared = append(shared, ref.At(repeat-1, own[0]))
		}
	}
	return b.System()
}

// randomGadget makes one of the operations that expand few elements to many variables.
func randomGadget(cs *r1cs.CS, g *rand.Rand) (made []r1cs.Var) {
	nums := func(n int) []gadget.Num {
		out := gadget.AllocNums(cs, n)
		for _, v := range out {
			made = append(made, v.Var)
		}
		return out
	}
	arity := []int{2, 4, 8}[g.IntN(3)]
	switch g.IntN(4) {
	case 0:
		gadget.Hash(cs, gadget.TagMerkleTree, nums([]int{2, 4, 8, 11}[g.IntN(4)]))
	case 1:
		gadget.Hash(cs, gadget.TagGenRandomness, nums(2))
	case 2:
		gadget.MerkleStep(cs, nums(1)[0], arity)
	default:
		n := map[int]int{2: 1, 4: 2, 8: 3}[arity]
		gadget.MerkleStepGivenIndex(cs, nums(1)[0], gadget.AllocBits(cs, n), nums(arity-1))
	}
	return made
}

// randomWitness has streams at random. It satisfies nothing, and need not.
func randomWitness(g *rand.Rand, sys *r1cs.System) *witness.Witness {
	w := witness.New(sys)
	for i := range w.Inputs[1:] {
		w.Inputs[1+i] = randomElement(g)
	}
	for i := range w.Words {
		w.Words[i] = g.Uint64()
	}
	for i := range w.Elements {
		w.Elements[i] = randomElement(g)
	}
	return w
}
