package gadget_test

import (
	"encoding/binary"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/gadget"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

// labelOf is the label by crypto/sha256.
func labelOf(t tester, replicaID fr.Element, layer uint32, node uint64, parents []fr.Element) fr.Element {
	t.Helper()
	message := littleEndian(&replicaID)
	message = binary.BigEndian.AppendUint32(message, layer)
	message = binary.BigEndian.AppendUint64(message, node)
	message = append(message, make([]byte, 20)...)
	for i := range 37 {
		message = append(message, littleEndian(&parents[i%len(parents)])...)
	}
	return trimmed(t, message)
}

// labelSystem has replica id and parents as numbers, the node, and the label.
func labelSystem(layer uint32, parents int) *r1cs.System {
	return oneBlock(func(cs *r1cs.CS) {
		var words [][]gadget.Boolean
		for _, n := range gadget.AllocNums(cs, 1+parents) {
			words = append(words, gadget.ReverseBitNumbering(gadget.AreBits(gadget.NumToBits(cs, n))))
		}
		node := gadget.AllocUInt64(cs)
		node.Inputize(cs)
		gadget.Label(cs, words[0], layer, &node, words[1:])
	})
}

func assignLabelSystem(a *r1cs.Assigner, numbers []fr.Element, layer uint32, node uint64) fr.Element {
	copy(a.NextElements(len(numbers)), numbers)
	words := make([][8]gadget.Word, len(numbers))
	for i := range numbers {
		a.ElementBits(&numbers[i], fr.Bits)
		words[i] = gadget.ElementWords(&numbers[i])
	}
	a.Bits(node, 64)
	input := fr.NewElement(node)
	a.Input(&input)
	return gadget.AssignLabel(a, &words[0], layer, node, words[1:])
}

func TestLabel(t *testing.T) {
	systems := map[int]*r1cs.System{6: labelSystem(1, 6), 14: labelSystem(7, 14)}
	rapid.Check(t, func(t *rapid.T) {
		parents, layer := 6, uint32(1)
		if rapid.Bool().Draw(t, "second layer or later") {
			parents, layer = 14, 7
		}
		numbers := make([]fr.Element, 1+parents)
		for i := range numbers {
			numbers[i] = drawEdge(t, "number")
		}
		node := rapid.Uint64().Draw(t, "node")
		want := labelOf(t, numbers[0], layer, node, numbers[1:])
		var got fr.Element
		inputs, aux := assigned(t, systems[parents], func(a *r1cs.Assigner) {
			got = assignLabelSystem(a, numbers, layer, node)
		})
		if got != want || aux[len(aux)-1] != want {
			t.Fatalf("label %s, want %s", got.String(), want.String())
		}
		if inputs[1] != fr.NewElement(node) {
			t.Fatalf("node %s, want %d", inputs[1].String(), node)
		}
	})
}

// TestLabelHolds evaluates the constraints of a label of the first layer and of a later one.
func TestLabelHolds(t *testing.T) {
	for layer, parents := range map[uint32]int{1: 6, 11: 14} {
		numbers := make([]fr.Element, 1+parents)
		for i := range numbers {
			numbers[i].SetInt64(-int64(i))
		}
		sys := labelSystem(layer, parents)
		inputs, aux := checkHolds(t, sys, func(a *r1cs.Assigner) { assignLabelSystem(a, numbers, layer, 1<<40+3) })
		label := &aux[len(aux)-1]
		if label.Add(label, &inputs[0]); satisfied(sys, inputs, aux) == nil {
			t.Errorf("layer %d: another label is accepted", layer)
		}
	}
}

func TestAssignLabelDoesNotAllocate(t *testing.T) {
	words, elements := make([]uint64, 1<<16), make([]fr.Element, 1)
	var replicaID [8]gadget.Word
	parents := make([][8]gadget.Word, 14)
	if n := testing.AllocsPerRun(10, func() {
		a := r1cs.NewAssigner(words, len(words)*64, elements, nil)
		gadget.AssignLabel(&a, &replicaID, 2, 3, parents)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestColumnAndEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := make([]fr.Element, rapid.SampledFrom([]int{2, 11}).Draw(t, "layers"))
		for i := range rows {
			rows[i] = drawEdge(t, "row")
		}
		sys := oneBlock(func(cs *r1cs.CS) {
			nums, _ := gadget.Column(cs, len(rows))
			gadget.ColumnHash(cs, nums)
			gadget.EncodeReplica(cs, nums[0], nums[1])
		})
		var first, second, sum, want fr.Element
		_, aux := checkHolds(t, sys, func(a *r1cs.Assigner) {
			first = gadget.AssignColumn(a, rows)
			second = gadget.AssignColumnHash(a, rows)
			sum = gadget.AssignEncodeReplica(a, &rows[0], &rows[1])
		})
		if want.Add(&rows[0], &rows[1]); sum != want || aux[len(aux)-1] != want || aux[len(aux)-2] != first || first != second {
			t.Fatal("hash or encoding differs")
		}
	})
}
