package r1cs

import (
	"math"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// coeffTable numbers the distinct coefficients of a system.
type coeffTable struct {
	values []fr.Element
	number map[fr.Element]uint16
	// A direct-mapped cache in front of the map: building is mostly looking up the same few hundred
	// coefficients, tens of millions of times.
	cache [1 << 12]uint16
}

func (t *coeffTable) init() {
	t.number = map[fr.Element]uint16{one: CoeffOne, minusOne: CoeffMinusOne}
	t.values = []fr.Element{one, minusOne}
}

func (t *coeffTable) index(c *fr.Element) uint16 {
	slot := &t.cache[(c[0]^c[1]>>7^c[2]>>23^c[3])%uint64(len(t.cache))]
	if t.values[*slot] == *c {
		return *slot
	}
	i, ok := t.number[*c]
	if !ok {
		if len(t.values) > math.MaxUint16 {
			panic("constraint system has more than 2^16 distinct coefficients")
		}
		i = uint16(len(t.values)) //nolint:gosec // checked above
		t.values = append(t.values, *c)
		t.number[*c] = i
	}
	*slot = i
	return i
}
