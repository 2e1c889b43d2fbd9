package r1cs

import "fmt"

// Var names a variable as the rows of a block see it: its space (input or auxiliary), its class
// (shared, moving or own) and an index in that class.
//
// The order of Vars as integers is the canonical order of the terms of a row: inputs before
// auxiliary variables, and what was made earlier before what was made later.
type Var uint32

const (
	auxFlag    Var = 1 << 31
	classMask  Var = 3 << 29
	shared     Var = 0 << 29
	moving     Var = 1 << 29
	own        Var = 2 << 29
	indexMask  Var = 1<<29 - 1
	maxIndex       = int(indexMask)
	tableInput     = 1 << 31 // flags an input in a Column's positions
)

// One is the constant one, input 0.
const One Var = 0

// IsAux says whether v is an auxiliary variable rather than an input.
func (v Var) IsAux() bool { return v&auxFlag != 0 }

// Index is the position in v's class: absolute for a shared variable, within the instance for an
// own one, the number of the [Column] for a moving one.
func (v Var) Index() int { return int(v & indexMask) }

// IsShared says whether v is the same variable in every instance of the block.
func (v Var) IsShared() bool { return v&classMask == shared }

// IsOwn says whether v belongs to the instance and moves with it.
func (v Var) IsOwn() bool { return v&classMask == own }

// IsMoving says whether v lies outside the instance and moves by its own column.
func (v Var) IsMoving() bool { return v&classMask == moving }

// String writes v for people: in3, aux7, own aux7, moving 2.
func (v Var) String() string {
	space := "in"
	if v.IsAux() {
		space = "aux"
	}
	switch v & classMask {
	case shared:
		return fmt.Sprintf("%s%d", space, v.Index())
	case own:
		return fmt.Sprintf("own %s%d", space, v.Index())
	default:
		return fmt.Sprintf("moving %s%d", space, v.Index())
	}
}

// Column places a moving variable: in instance i it is the absolute variable Start + i*Stride, or
// Table[i] where Table is set. All positions of a column are in the same space.
type Column struct {
	Start, Stride uint32
	Table         []uint32
}

// At is the absolute index of the column's variable in instance i.
func (c *Column) At(i int) uint32 {
	if c.Table != nil {
		return c.Table[i]
	}
	return c.Start + uint32(i)*c.Stride //nolint:gosec // positions are below 2^29
}
