package groth16

import (
	"encoding/binary"
	"fmt"
)

// Section is one of the five lists of points of a parameter file, in the order of the file.
type Section int

// The sections. H, L, A and BG1 are points of G1, BG2 of G2.
const (
	SectionH   Section = iota // powers of tau times the domain's vanishing polynomial over delta
	SectionL                  // auxiliary variables over delta
	SectionA                  // columns of A that are not zero: inputs, then auxiliary variables
	SectionBG1                // columns of B that are not zero, in G1
	SectionBG2                // the same in G2
	numSections
)

// MaxPoints is how many points a section may have. The largest of Filecoin's circuits have 2^27.
const MaxPoints = 1 << 28

// String is the section's short name.
func (s Section) String() string {
	if s < 0 || s >= numSections {
		return fmt.Sprintf("section(%d)", int(s))
	}
	return [...]string{"h", "l", "a", "b_g1", "b_g2"}[s]
}

// PointBytes is the length of an encoded point of the section.
func (s Section) PointBytes() int {
	if s == SectionBG2 {
		return g2Bytes
	}
	return g1Bytes
}

// extent is where a section's points lie.
type extent struct {
	offset int64
	count  int
}

// layoutError says that a file does not have the shape of a parameter file.
type layoutError struct{ text string }

func (e *layoutError) Error() string { return e.text }

// readLayout reads the verifying key and the places of the sections from a parameter file of the
// given size. It looks at the key and the five counts only.
func readLayout(src source, size int64) (*VerifyingKey, [numSections]extent, error) {
	var sections [numSections]extent
	vk, err := ReadVerifyingKey(&viewReader{src: src, left: size})
	if err != nil {
		return nil, sections, err
	}
	at := int64(vk.Size())
	for s := range numSections {
		b, err := src.view(at, 4)
		if err != nil {
			return nil, sections, &layoutError{fmt.Sprintf("file of %d bytes ends before section %s", size, s)}
		}
		at += 4
		n := binary.BigEndian.Uint32(b)
		if n > MaxPoints {
			return nil, sections, &layoutError{fmt.Sprintf("section %s has %d points, more than any circuit", s, n)}
		}
		sections[s] = extent{at, int(n)}
		at += int64(n) * int64(s.PointBytes())
		if at > size {
			return nil, sections, &layoutError{fmt.Sprintf("file of %d bytes is cut off: section %s ends at %d", size, s, at)}
		}
	}
	if at != size {
		return nil, sections, &layoutError{fmt.Sprintf("file of %d bytes goes on after its last section, which ends at %d", size, at)}
	}
	return vk, sections, nil
}
