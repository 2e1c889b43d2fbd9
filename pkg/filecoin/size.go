package filecoin

import (
	"fmt"
	"math/bits"
)

// NodeSize is the size of a tree node in bytes.
const NodeSize = 32

// SectorSize is the size of a sector in bytes. Only the listed constants are valid.
type SectorSize uint64

// The sector sizes that the reference has a shape for. Parameters are published for 2KiB, 8MiB, 512MiB, 32GiB and 64GiB;
// the others exist so that tests can use small trees of the production shapes.
const (
	Size2KiB   SectorSize = 2 << 10
	Size4KiB   SectorSize = 4 << 10
	Size16KiB  SectorSize = 16 << 10
	Size32KiB  SectorSize = 32 << 10
	Size8MiB   SectorSize = 8 << 20
	Size16MiB  SectorSize = 16 << 20
	Size512MiB SectorSize = 512 << 20
	Size1GiB   SectorSize = 1 << 30
	Size32GiB  SectorSize = 32 << 30
	Size64GiB  SectorSize = 64 << 30
)

// publishedSizes are the sizes that have registered proofs, in the order of their numbers.
var publishedSizes = [...]SectorSize{Size2KiB, Size8MiB, Size512MiB, Size32GiB, Size64GiB}

// testSizes are the sizes without a registered proof, in the order of our own test numbers.
var testSizes = [...]SectorSize{Size4KiB, Size16KiB, Size32KiB, Size16MiB, Size1GiB}

// SectorSizes returns all valid sizes, rising.
func SectorSizes() []SectorSize {
	return []SectorSize{Size2KiB, Size4KiB, Size16KiB, Size32KiB, Size8MiB, Size16MiB, Size512MiB, Size1GiB, Size32GiB, Size64GiB}
}

// ParseSectorSize reads a size as String writes it, such as "32GiB".
func ParseSectorSize(s string) (SectorSize, error) {
	for _, size := range SectorSizes() {
		if size.String() == s {
			return size, nil
		}
	}
	return 0, fmt.Errorf("sector size %.32q is unknown: use one of %v", s, SectorSizes())
}

// Valid tells whether s is one of the known sizes.
func (s SectorSize) Valid() bool {
	switch s {
	case Size2KiB, Size4KiB, Size16KiB, Size32KiB, Size8MiB, Size16MiB, Size512MiB, Size1GiB, Size32GiB, Size64GiB:
		return true
	}
	return false
}

// Published tells whether Filecoin registers proofs of this size.
func (s SectorSize) Published() bool {
	for _, p := range publishedSizes {
		if p == s {
			return true
		}
	}
	return false
}

// String is the size with its binary unit, such as "2KiB".
func (s SectorSize) String() string {
	switch {
	case s >= 1<<30 && s%(1<<30) == 0:
		return fmt.Sprintf("%dGiB", uint64(s>>30))
	case s >= 1<<20 && s%(1<<20) == 0:
		return fmt.Sprintf("%dMiB", uint64(s>>20))
	case s >= 1<<10 && s%(1<<10) == 0:
		return fmt.Sprintf("%dKiB", uint64(s>>10))
	}
	return fmt.Sprintf("%dB", uint64(s))
}

// Nodes is the number of 32-byte nodes of a sector.
func (s SectorSize) Nodes() uint64 { return uint64(s) / NodeSize }

// Levels is log2 of Nodes: the depth of the binary tree D.
func (s SectorSize) Levels() int { return bits.TrailingZeros64(s.Nodes()) }

// TreeShape is the shape of the Poseidon trees of a sector (trees C and R): base trees of arity Base, Sub of which hang
// under a node, Top of which hang under the root; 0 where there is no such level.
type TreeShape struct{ Base, Sub, Top int }

// BinaryTree is the shape of tree D, SHA-256 over the data.
var BinaryTree = TreeShape{Base: 2}

// Shape is the shape of trees C and R. It is the zero shape for an invalid size.
func (s SectorSize) Shape() TreeShape {
	switch s {
	case Size2KiB, Size8MiB, Size512MiB:
		return TreeShape{8, 0, 0}
	case Size4KiB, Size16MiB, Size1GiB:
		return TreeShape{8, 2, 0}
	case Size16KiB, Size32GiB:
		return TreeShape{8, 8, 0}
	case Size32KiB, Size64GiB:
		return TreeShape{8, 8, 2}
	}
	return TreeShape{}
}

// BaseLevels is the number of path levels inside a base tree of a sector of the given size.
func (t TreeShape) BaseLevels(size SectorSize) int {
	if t.Base < 2 {
		return 0
	}
	leaves := size.Nodes()
	for _, arity := range [...]int{t.Sub, t.Top} {
		if arity > 0 {
			leaves /= uint64(arity)
		}
	}
	perLevel := bits.Len(uint(t.Base)) - 1
	return (bits.Len64(leaves) - 1) / perLevel
}

// Arities lists the arity of each level of a path from leaf to root: base levels, then sub, then top.
func (t TreeShape) Arities(size SectorSize) []int {
	out := make([]int, 0, t.BaseLevels(size)+2)
	for range t.BaseLevels(size) {
		out = append(out, t.Base)
	}
	if t.Sub > 0 {
		out = append(out, t.Sub)
	}
	if t.Top > 0 {
		out = append(out, t.Top)
	}
	return out
}

// String is the shape as base-sub-top, such as "8-8-2".
func (t TreeShape) String() string { return fmt.Sprintf("%d-%d-%d", t.Base, t.Sub, t.Top) }
