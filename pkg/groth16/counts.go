package groth16

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// Counts is how many points the parameters of a circuit have.
type Counts struct {
	IC  int `json:"ic"`
	H   int `json:"h"`
	L   int `json:"l"`
	A   int `json:"a"`
	BG1 int `json:"b_g1"`
	BG2 int `json:"b_g2"`
}

// CountsOf computes the counts of a circuit's parameters.
func CountsOf(sys *r1cs.System) Counts {
	a, b := sys.Density(r1cs.MatrixA), sys.Density(r1cs.MatrixB)
	return countsOf(sys, &a, &b)
}

func countsOf(sys *r1cs.System, a, b *r1cs.Density) Counts {
	nb := b.Inputs.Count() + b.Aux.Count()
	return Counts{
		IC: sys.NumInputs,
		H:  domainSize(sys.NumConstraints) - 1,
		L:  sys.NumAux,
		// The constraints input_i * 0 = 0 make every input's column of A other than zero.
		A:   sys.NumInputs + a.Aux.Count(),
		BG1: nb,
		BG2: nb,
	}
}

// FileBytes is the length of a parameter file with these counts.
func (c Counts) FileBytes() int64 {
	g1 := int64(c.IC) + int64(c.H) + int64(c.L) + int64(c.A) + int64(c.BG1)
	return vkFixedBytes + g1*g1Bytes + int64(c.BG2)*g2Bytes + int64(numSections)*4
}

// domainSize is the number of points of the evaluation domain of n constraints.
func domainSize(n int) int { return int(ecc.NextPowerOfTwo(uint64(n))) } //nolint:gosec // small

// fits compares what a file has with what a circuit wants.
func fits(path string, want, got Counts) error {
	if want == got {
		return nil
	}
	return fmt.Errorf("parameter file %s: %w: it has %s, the circuit needs %s; check which circuit the file is for",
		path, ErrParamsForeign, got, want)
}

// String lists the counts.
func (c Counts) String() string {
	return fmt.Sprintf("%d ic, %d h, %d l, %d a, %d b_g1, %d b_g2", c.IC, c.H, c.L, c.A, c.BG1, c.BG2)
}
