package engine

import (
	"fmt"
	"strings"

	"github.com/proofmill/proofmill/pkg/filecoin"
)

// Circuit is what a proof is made for: a kind of proof at a sector size. All registered proofs of
// one kind and size share it.
type Circuit struct {
	Kind filecoin.Kind
	Size filecoin.SectorSize
}

// kindNames are the names of circuits as storage providers know them from their daemon.
var kindNames = map[filecoin.Kind]string{
	filecoin.PoRep: "porep", filecoin.Update: "snap", filecoin.Window: "wpost", filecoin.Winning: "winning",
}

// ID is the circuit's name in messages and metrics: porep-32g, snap-2k, wpost-512m, winning-64g.
func (c Circuit) ID() string {
	size := strings.TrimSuffix(c.Size.String(), "iB")
	return kindNames[c.Kind] + "-" + strings.ToLower(size)
}

// String is the circuit as the command line names it: porep 32GiB.
func (c Circuit) String() string { return c.Kind.String() + " " + c.Size.String() }

// Valid says whether there is such a circuit.
func (c Circuit) Valid() bool { return kindNames[c.Kind] != "" && c.Size.Valid() }

// PartitionInputs is the half-open range of the vanilla proofs that partition k needs, of a request
// with as many inputs.
func (c Circuit) PartitionInputs(k, inputs int) (from, to int) {
	switch c.Kind {
	case filecoin.Window:
		per := c.Size.WindowSectors()
		return min(k*per, inputs), min((k+1)*per, inputs)
	case filecoin.Update:
		return k, k + 1
	case filecoin.Winning:
		return 0, inputs
	default:
		return 0, 1
	}
}

// Circuits lists all circuits, by kind and then size.
func Circuits() []Circuit {
	var all []Circuit
	for _, kind := range filecoin.Kinds() {
		for _, size := range filecoin.SectorSizes() {
			all = append(all, Circuit{kind, size})
		}
	}
	return all
}

// ParseCircuit reads an ID.
func ParseCircuit(id string) (Circuit, error) {
	for _, c := range Circuits() {
		if c.ID() == id {
			return c, nil
		}
	}
	return Circuit{}, fmt.Errorf("circuit %.40q is unknown: want a kind and size such as porep-32g, snap-32g, wpost-32g, winning-32g", id)
}
