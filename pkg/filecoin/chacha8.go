package filecoin

import (
	"encoding/binary"
	"math/bits"
)

const chacha8Rounds = 8

// chacha8 is the keystream of ChaCha with 8 rounds, a 64-bit block counter from zero and a zero nonce: the generator that
// draws DRG parents. x/crypto has the 20-round cipher only.
type chacha8 struct {
	key   [8]uint32
	block [16]uint32
	count uint64
	used  int // words of block already handed out
}

func newChacha8(seed *[32]byte) *chacha8 {
	c := &chacha8{used: 16}
	for i := range c.key {
		c.key[i] = binary.LittleEndian.Uint32(seed[4*i:])
	}
	return c
}

// uint64 is the next 8 bytes of the keystream, little-endian.
func (c *chacha8) uint64() uint64 {
	if c.used == len(c.block) {
		c.refill(chacha8Rounds / 2)
	}
	lo, hi := c.block[c.used], c.block[c.used+1]
	c.used += 2
	return uint64(lo) | uint64(hi)<<32
}

// refill makes the next block; a double round is one over columns and one over diagonals.
func (c *chacha8) refill(doubleRounds int) {
	start := [16]uint32{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}
	copy(start[4:], c.key[:])
	start[12] = uint32(c.count) //nolint:gosec // the low half of the counter
	start[13] = uint32(c.count >> 32)
	x := start
	for range doubleRounds {
		quarter(&x, 0, 4, 8, 12)
		quarter(&x, 1, 5, 9, 13)
		quarter(&x, 2, 6, 10, 14)
		quarter(&x, 3, 7, 11, 15)
		quarter(&x, 0, 5, 10, 15)
		quarter(&x, 1, 6, 11, 12)
		quarter(&x, 2, 7, 8, 13)
		quarter(&x, 3, 4, 9, 14)
	}
	for i := range x {
		c.block[i] = x[i] + start[i]
	}
	c.count++
	c.used = 0
}

func quarter(x *[16]uint32, a, b, c, d int) {
	x[a] += x[b]
	x[d] = bits.RotateLeft32(x[d]^x[a], 16)
	x[c] += x[d]
	x[b] = bits.RotateLeft32(x[b]^x[c], 12)
	x[a] += x[b]
	x[d] = bits.RotateLeft32(x[d]^x[a], 8)
	x[c] += x[d]
	x[b] = bits.RotateLeft32(x[b]^x[c], 7)
}
