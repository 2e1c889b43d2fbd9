package gadget

import (
	"fmt"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// SHA256 makes the SHA-256 digest (FIPS 180-4) of message, as 256 bits in the order of the digest:
// bytes as they come, the most significant bit of each first, like the message. The message is of
// whole 32-bit words. The padding and the initial state are constants, and so is what follows from
// constants alone.
//
// Its assignment is [AssignSHA256].
func SHA256(cs *r1cs.CS, message []Boolean) []Boolean {
	if len(message)%32 != 0 {
		panic(fmt.Sprintf("sha-256 of %d bits: not whole words", len(message)))
	}
	words := make([]UInt32, 0, (len(message)/32+3+15)/16*16)
	for i := 0; i < len(message); i += 32 {
		words = append(words, UInt32FromBitsBE(message[i:i+32]))
	}
	words = append(words, ConstantUInt32(1<<31))
	for len(words)%16 != 14 {
		words = append(words, UInt32{})
	}
	words = append(words, UInt32{}, ConstantUInt32(uint32(len(message)))) //nolint:gosec // small

	k := newShaCS(cs)
	var state [8]UInt32
	for i, v := range shaInitial {
		state[i] = ConstantUInt32(v)
	}
	for ; len(words) > 0; words = words[16:] {
		state = k.compress(&state, (*[16]UInt32)(words))
	}
	digest := make([]Boolean, 0, 256)
	for i := range state {
		digest = state[i].AppendBitsBE(digest)
	}
	return digest
}

// AssignSHA256 writes the assignment of [SHA256] and returns the digest's words. It does not
// allocate.
func AssignSHA256(a *r1cs.Assigner, message []Word) [8]Word {
	length := uint32(len(message) * 32) //nolint:gosec // small
	var state [8]Word
	for i, v := range shaInitial {
		state[i] = ConstantWord(v)
	}
	for ; len(message) >= 16; message = message[16:] {
		state = assignCompress(a, &state, (*[16]Word)(message))
	}
	var last [16]Word
	copy(last[:], message)
	last[len(message)] = ConstantWord(1 << 31)
	if len(message) >= 14 {
		state = assignCompress(a, &state, &last)
		last = [16]Word{}
	}
	last[15] = ConstantWord(length)
	return assignCompress(a, &state, &last)
}

// shaCS makes compressions; it keeps the memory of linear combinations.
type shaCS struct {
	cs      *r1cs.CS
	sums    multiEq
	a, b, c r1cs.LC
}

func newShaCS(cs *r1cs.CS) *shaCS { return &shaCS{cs: cs, sums: multiEq{cs: cs}} }

// compress is the compression function. The additions of one compression share constraints.
//
// The new words a and e of a round are summed only in the next round, and those of the last round
// together with the state that is added at the end: one addition less for each.
func (k *shaCS) compress(state *[8]UInt32, block *[16]UInt32) [8]UInt32 {
	var w [64]UInt32
	copy(w[:], block[:])
	for i := 16; i < 64; i++ {
		s0 := k.sigma(&w[i-15], 7, 18, 3)
		s1 := k.sigma(&w[i-2], 17, 19, 10)
		w[i] = k.sums.add(&w[i-16], &s0, &w[i-7], &s1)
	}

	a, b, c, d := state[0], state[1], state[2], state[3]
	e, f, g, h := state[4], state[5], state[6], state[7]
	var t, next shaRound
	for i := range 64 {
		if i > 0 {
			e = k.sums.add(&t.h, &t.s1, &t.choice, &t.key, &t.w, &t.d)
		}
		next.h, next.d, next.key, next.w = h, d, ConstantUInt32(shaKeys[i]), w[i]
		next.s1 = k.bigSigma(&e, 6, 11, 25)
		next.choice = k.chooseWord(&e, &f, &g)
		if i > 0 {
			a = k.sums.add(&t.h, &t.s1, &t.choice, &t.key, &t.w, &t.s0, &t.majority)
		}
		next.s0 = k.bigSigma(&a, 2, 13, 22)
		next.majority = k.majorityWord(&a, &b, &c)
		h, g, f = g, f, e
		d, c, b = c, b, a
		t = next
	}

	var out [8]UInt32
	out[0] = k.sums.add(&t.h, &t.s1, &t.choice, &t.key, &t.w, &t.s0, &t.majority, &state[0])
	out[1] = k.sums.add(&state[1], &b)
	out[2] = k.sums.add(&state[2], &c)
	out[3] = k.sums.add(&state[3], &d)
	out[4] = k.sums.add(&t.h, &t.s1, &t.choice, &t.key, &t.w, &t.d, &state[4])
	out[5] = k.sums.add(&state[5], &f)
	out[6] = k.sums.add(&state[6], &g)
	out[7] = k.sums.add(&state[7], &h)
	k.sums.flush()
	return out
}

// shaRound is what the sums at the end of a round add: h + s1 + choice + key + w, to which e adds d
// and a adds s0 + majority.
type shaRound struct{ h, s1, choice, key, w, d, s0, majority UInt32 }

// sigma is (x rotated by r1) xor (x rotated by r2) xor (x shifted by s).
func (k *shaCS) sigma(x *UInt32, r1, r2, s int) UInt32 {
	p, q, r := x.rotateRight(r1), x.rotateRight(r2), x.shiftRight(s)
	t := xorUInt32(k.cs, &p, &q)
	return xorUInt32(k.cs, &t, &r)
}

// bigSigma is the xor of three rotations of x.
func (k *shaCS) bigSigma(x *UInt32, r1, r2, r3 int) UInt32 {
	p, q, r := x.rotateRight(r1), x.rotateRight(r2), x.rotateRight(r3)
	t := xorUInt32(k.cs, &p, &q)
	return xorUInt32(k.cs, &t, &r)
}

// assignCompress is the assignment of compress.
func assignCompress(asg *r1cs.Assigner, state *[8]Word, block *[16]Word) [8]Word {
	var w [64]Word
	copy(w[:], block[:])
	for i := 16; i < 64; i++ {
		s0 := assignSigma(asg, w[i-15], 7, 18, 3)
		s1 := assignSigma(asg, w[i-2], 17, 19, 10)
		w[i] = assignSum(asg, w[i-16], s0, w[i-7], s1)
	}

	a, b, c, d := state[0], state[1], state[2], state[3]
	e, f, g, h := state[4], state[5], state[6], state[7]
	var t, next shaRoundWords
	for i := range 64 {
		if i > 0 {
			e = assignSum(asg, t.h, t.s1, t.choice, t.key, t.w, t.d)
		}
		next.h, next.d, next.key, next.w = h, d, ConstantWord(shaKeys[i]), w[i]
		next.s1 = assignBigSigma(asg, e, 6, 11, 25)
		next.choice = assignChoose(asg, e, f, g)
		if i > 0 {
			a = assignSum(asg, t.h, t.s1, t.choice, t.key, t.w, t.s0, t.majority)
		}
		next.s0 = assignBigSigma(asg, a, 2, 13, 22)
		next.majority = assignMajority(asg, a, b, c)
		h, g, f = g, f, e
		d, c, b = c, b, a
		t = next
	}

	var out [8]Word
	out[0] = assignSum(asg, t.h, t.s1, t.choice, t.key, t.w, t.s0, t.majority, state[0])
	out[1] = assignSum(asg, state[1], b)
	out[2] = assignSum(asg, state[2], c)
	out[3] = assignSum(asg, state[3], d)
	out[4] = assignSum(asg, t.h, t.s1, t.choice, t.key, t.w, t.d, state[4])
	out[5] = assignSum(asg, state[5], f)
	out[6] = assignSum(asg, state[6], g)
	out[7] = assignSum(asg, state[7], h)
	return out
}

type shaRoundWords struct{ h, s1, choice, key, w, d, s0, majority Word }

func assignSigma(a *r1cs.Assigner, x Word, r1, r2 int, s uint) Word {
	return assignXor(a, assignXor(a, x.rotateRight(r1), x.rotateRight(r2)), x.shiftRight(s))
}

func assignBigSigma(a *r1cs.Assigner, x Word, r1, r2, r3 int) Word {
	return assignXor(a, assignXor(a, x.rotateRight(r1), x.rotateRight(r2)), x.rotateRight(r3))
}
