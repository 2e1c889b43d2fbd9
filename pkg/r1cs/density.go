package r1cs

import "math/bits"

// Bitset is a set of variable indices.
type Bitset []uint64

func newBitset(n int) Bitset { return make(Bitset, (n+63)/64) }

// Has says whether i is in the set.
func (s Bitset) Has(i int) bool { return s[i/64]>>(i%64)&1 == 1 }

func (s Bitset) add(i int) { s[i/64] |= 1 << (i % 64) }

// Count is the number of members.
func (s Bitset) Count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// MatrixName picks one of the three matrices.
type MatrixName int

// The matrices of a system.
const (
	MatrixA MatrixName = iota
	MatrixB
	MatrixC
)

// Matrix is the block's matrix of that name.
func (b *Block) Matrix(m MatrixName) *Matrix { return [...]*Matrix{&b.A, &b.B, &b.C}[m] }

// Density says which columns of a matrix are not all zero.
type Density struct{ Inputs, Aux Bitset }

// Density finds the columns of a matrix with a non-zero entry in any constraint. The constraints
// input_i * 0 = 0 do not count, as in the reference.
func (s *System) Density(name MatrixName) Density {
	d := Density{newBitset(s.NumInputs), newBitset(s.NumAux)}
	for k := range s.Blocks {
		b := &s.Blocks[k]
		seen := Density{newBitset(b.InputStride), newBitset(b.AuxStride)}
		for _, v := range b.Matrix(name).Vars {
			set := d.Inputs
			if v.IsAux() {
				set = d.Aux
			}
			switch {
			case v.IsShared():
				set.add(v.Index())
			case v.IsMoving():
				for i := range b.Repeat {
					set.add(b.Position(v, i))
				}
			case v.IsAux():
				seen.Aux.add(v.Index())
			default:
				seen.Inputs.add(v.Index())
			}
		}
		for i := range b.Repeat {
			seen.Aux.addAllTo(d.Aux, b.AuxStart+i*b.AuxStride)
			seen.Inputs.addAllTo(d.Inputs, b.InputStart+i*b.InputStride)
		}
	}
	return d
}

// addAllTo adds the members of s, moved by offset, to dst.
func (s Bitset) addAllTo(dst Bitset, offset int) {
	word, shift := offset/64, uint(offset%64)
	for i, w := range s {
		dst[word+i] |= w << shift
		if high := w >> (64 - shift); shift > 0 && high != 0 {
			dst[word+i+1] |= high
		}
	}
}
