package r1cs

import "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

// System is a constraint system. It is immutable once built.
type System struct {
	NumInputs      int // with the constant one
	NumAux         int
	NumConstraints int // with the NumInputs last ones, input_i * 0 = 0
	Coeffs         []fr.Element
	Blocks         []Block
}

// Coefficients every system starts with, so that their multiplication can be spared.
const (
	CoeffOne      = 0
	CoeffMinusOne = 1
)

// Block is the constraints of one instance and how instances follow each other: instance i of a
// block has the constraints, auxiliary variables and inputs that start at
// XStart + i*XStride, where the stride is the number an instance has.
type Block struct {
	Name        string
	Repeat      int
	Rows        int // constraints of one instance
	RowStart    int
	AuxStart    int
	AuxStride   int
	InputStart  int
	InputStride int
	A, B, C     Matrix
	Columns     []Column  // where moving variables lie
	Segments    []Segment // how the instance's auxiliary variables are produced, in order
}

// Matrix is the rows of one of A, B, C for one instance in compressed form: row r has the terms
// End[r-1] to End[r]. The columns of a row rise and name each variable once; coefficients are
// indices into System.Coeffs and never zero.
type Matrix struct {
	End   []uint32
	Vars  []Var
	Coeff []uint16
}

// Row is the half-open range of terms of row r.
func (m *Matrix) Row(r int) (from, to uint32) {
	if r > 0 {
		from = m.End[r-1]
	}
	return from, m.End[r]
}

// Position is the absolute index of v in instance i of the block, among the inputs or among the
// auxiliary variables as v.IsAux says.
func (b *Block) Position(v Var, i int) int {
	switch v & classMask {
	case shared:
		return v.Index()
	case own:
		if v.IsAux() {
			return b.AuxStart + i*b.AuxStride + v.Index()
		}
		return b.InputStart + i*b.InputStride + v.Index()
	default:
		return int(b.Columns[v.Index()].At(i))
	}
}

// NumInputRows is how many of the constraints are the last ones, input_i * 0 = 0.
func (s *System) NumInputRows() int { return s.NumInputs }

// Bytes is the memory of the blocks' matrices, tables and coefficients.
func (s *System) Bytes() int {
	n := len(s.Coeffs) * fr.Bytes
	for i := range s.Blocks {
		b := &s.Blocks[i]
		for _, m := range []*Matrix{&b.A, &b.B, &b.C} {
			n += 4*cap(m.End) + 4*cap(m.Vars) + 2*cap(m.Coeff)
		}
		for _, c := range b.Columns {
			n += 4 * len(c.Table)
		}
	}
	return n
}
