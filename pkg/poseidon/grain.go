package poseidon

import "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

// grain is the Grain LFSR in self-shrinking mode from which the round constants are drawn (Poseidon, eprint 2019/458, appendix E).
// The register is a ring: bit i of the paper's state is bits[(head+i) % 80].
type grain struct {
	bits [80]bool
	head int
}

// newGrain seeds the register with the parameters of an instance over the 255-bit prime field with S-box x^5, and discards 160 bits.
func newGrain(width, fullRounds, partialRounds int) *grain {
	g := &grain{}
	n := 0
	put := func(count, value int) {
		for i := count - 1; i >= 0; i-- {
			g.bits[n] = value>>i&1 == 1
			n++
		}
	}
	put(2, 1)        // a prime field
	put(4, 1)        // the S-box, as neptune encodes x^5
	put(12, fr.Bits) // bits of the modulus
	put(12, width)
	put(10, fullRounds)
	put(10, partialRounds)
	put(30, 1<<30-1)
	for range 160 {
		g.step()
	}
	return g
}

// step shifts the register by one bit and returns the bit that came in.
func (g *grain) step() bool {
	at := func(i int) bool { return g.bits[(g.head+i)%len(g.bits)] }
	bit := at(62) != at(51) != at(38) != at(23) != at(13) != at(0)
	g.bits[g.head] = bit
	g.head = (g.head + 1) % len(g.bits)
	return bit
}

// next is the self-shrinking output: of each pair of bits the second, where the first is one.
func (g *grain) next() bool {
	for !g.step() {
		g.step()
	}
	return g.step()
}

// element draws 255-bit big-endian integers until one is below the modulus.
func (g *grain) element() fr.Element {
	for {
		var buf [fr.Bytes]byte
		for i := fr.Bits - 1; i >= 0; i-- {
			if g.next() {
				buf[fr.Bytes-1-i/8] |= 1 << (i % 8)
			}
		}
		var e fr.Element
		if e.SetBytesCanonical(buf[:]) == nil {
			return e
		}
	}
}

// grainConstants returns the round constants of all rounds, width a round.
func grainConstants(width, fullRounds, partialRounds int) []fr.Element {
	g := newGrain(width, fullRounds, partialRounds)
	out := make([]fr.Element, width*(fullRounds+partialRounds))
	for i := range out {
		out[i] = g.element()
	}
	return out
}
