package gadget_test

import (
	"crypto/sha256"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/gadget"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

// drawEdge draws any field element, small ones and those next to the modulus among them.
func drawEdge(t *rapid.T, label string) fr.Element {
	var x, small fr.Element
	small.SetUint64(rapid.Uint64().Draw(t, label))
	switch rapid.IntRange(0, 2).Draw(t, label+" kind") {
	case 0:
		return small
	case 1:
		return *x.Neg(&small)
	}
	return *x.SetBytes(rapid.SliceOfN(rapid.Byte(), 64, 64).Draw(t, label+" bytes"))
}

func littleEndian(x *fr.Element) []byte {
	var b [fr.Bytes]byte
	fr.LittleEndian.PutElement(&b, *x)
	return b[:]
}

// trimmed is the digest of the parts as a field element: little-endian, two top bits cleared.
func trimmed(t tester, parts ...[]byte) fr.Element {
	t.Helper()
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	var b [fr.Bytes]byte
	h.Sum(b[:0])
	b[31] &= 0x3f
	x, err := fr.LittleEndian.Element(&b)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// sha256Path draws a leaf, its position and the siblings, and walks to the root by crypto/sha256.
func sha256Path(t *rapid.T) (leaf fr.Element, index uint64, siblings []fr.Element, root fr.Element) {
	leaf = drawEdge(t, "leaf")
	siblings = make([]fr.Element, rapid.IntRange(1, 2).Draw(t, "depth"))
	index = rapid.Uint64Range(0, 1<<len(siblings)-1).Draw(t, "index")
	root = leaf
	for i := range siblings {
		siblings[i] = drawEdge(t, "sibling")
		left, right := root, siblings[i]
		if index>>i&1 == 1 {
			left, right = right, left
		}
		root = trimmed(t, littleEndian(&left), littleEndian(&right))
	}
	return leaf, index, siblings, root
}

// perDepth builds the systems of paths of one and two levels.
func perDepth(build func(cs *r1cs.CS, depth int)) map[int]*r1cs.System {
	systems := map[int]*r1cs.System{}
	for depth := 1; depth <= 2; depth++ {
		systems[depth] = oneBlock(func(cs *r1cs.CS) { build(cs, depth) })
	}
	return systems
}

func TestSHA256Inclusion(t *testing.T) {
	systems := perDepth(func(cs *r1cs.CS, depth int) {
		nodes := gadget.AllocNums(cs, 2)
		gadget.EnforceSHA256Inclusion(cs, nodes[0], nodes[1], depth)
	})
	rapid.Check(t, func(t *rapid.T) {
		leaf, index, siblings, root := sha256Path(t)
		sys := systems[len(siblings)]
		challenge := fr.NewElement(index)
		inputs, aux := checkHolds(t, sys, func(a *r1cs.Assigner) {
			a.Element(&leaf)
			a.Element(&root)
			node := leaf
			for i := range siblings {
				node = gadget.AssignSHA256Step(a, &node, index>>i&1 == 1, &siblings[i])
			}
			a.Input(&challenge)
			if node != root {
				t.Fatalf("root %s, want %s", node.String(), root.String())
			}
		})
		changed := rapid.SampledFrom([]*fr.Element{&aux[0], &aux[1], &inputs[1]}).Draw(t, "changed leaf, root or challenge")
		if changed.Add(changed, &inputs[0]); satisfied(sys, inputs, aux) == nil {
			t.Fatal("another one is accepted")
		}
	})
}

func TestSHA256InclusionAt(t *testing.T) {
	systems := perDepth(func(cs *r1cs.CS, depth int) {
		nodes := gadget.AllocNums(cs, 2+depth)
		challenge := gadget.AllocBits(cs, depth)
		gadget.EnforceSHA256InclusionAt(cs, nodes[0], nodes[1], challenge, nodes[2:])
	})
	rapid.Check(t, func(t *rapid.T) {
		leaf, index, siblings, root := sha256Path(t)
		sys := systems[len(siblings)]
		inputs, aux := checkHolds(t, sys, func(a *r1cs.Assigner) {
			a.Element(&leaf)
			a.Element(&root)
			copy(a.NextElements(len(siblings)), siblings)
			a.Bits(index, uint(len(siblings)))
			node := leaf
			for i := range siblings {
				node = gadget.AssignSHA256StepGivenIndex(a, &node, index>>i&1 == 1, &siblings[i])
			}
			if node != root {
				t.Fatalf("root %s, want %s", node.String(), root.String())
			}
		})
		if len(inputs) != 1 {
			t.Fatalf("%d inputs", len(inputs))
		}
		i := rapid.IntRange(0, 1+len(siblings)).Draw(t, "changed node")
		if aux[i].Add(&aux[i], &inputs[0]); satisfied(sys, inputs, aux) == nil {
			t.Fatalf("another node %d is accepted", i)
		}
	})
}

func TestSHA256StepConstraintsHoldEachVariable(t *testing.T) {
	sys := oneBlock(func(cs *r1cs.CS) { gadget.SHA256Step(cs, gadget.AllocNum(cs)) })
	leaf, sibling := fr.NewElement(5), fr.NewElement(7)
	inputs, aux := checkHolds(t, sys, func(a *r1cs.Assigner) {
		a.Element(&leaf)
		gadget.AssignSHA256Step(a, &leaf, true, &sibling)
	})
	checkHeld(t, sys, inputs, aux, 0)
}
