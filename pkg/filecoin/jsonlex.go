package filecoin

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// jsonLexer reads JSON of a known form token by token, from one buffer or from chunks. It builds no values and recurses
// nowhere, so its memory does not depend on the input. The first error stays, and every later call does nothing.
type jsonLexer struct {
	buf     []byte
	pos     int
	before  int                    // bytes of the chunks before buf
	refill  func() ([]byte, error) // next chunk, empty at the end; nil where buf is all
	fresh   bool                   // just inside an opening bracket
	scratch [96]byte
	err     error
}

func (l *jsonLexer) failf(format string, args ...any) {
	if l.err == nil {
		l.err = malformed("C1 JSON at byte %d: %s", l.before+l.pos, fmt.Sprintf(format, args...))
	}
}

// available makes a byte ready at pos, or tells that the input has ended.
func (l *jsonLexer) available() bool {
	if l.pos < len(l.buf) {
		return true
	}
	if l.refill == nil || l.err != nil {
		return false
	}
	next, err := l.refill()
	if err != nil {
		l.err = err
		return false
	}
	l.before += len(l.buf)
	l.buf, l.pos = next, 0
	if len(next) == 0 {
		l.refill = nil
	}
	return len(next) > 0
}

// peek is the next byte after white space, 0 at the end.
func (l *jsonLexer) peek() byte {
	for l.err == nil && l.available() {
		switch c := l.buf[l.pos]; c {
		case ' ', '\t', '\n', '\r':
			l.pos++
		default:
			return c
		}
	}
	return 0
}

// expect consumes the byte c after white space.
func (l *jsonLexer) expect(c byte) {
	got := l.peek()
	switch {
	case l.err != nil:
	case got == c:
		l.pos++
	case got == 0 && !l.available():
		l.failf("the input ends where %q is needed", c)
	default:
		l.failf("%q where %q is needed", got, c)
	}
}

// open consumes an opening bracket; more must be asked before each member.
func (l *jsonLexer) open(bracket byte) {
	l.expect(bracket)
	l.fresh = true
}

// more tells whether another member follows before the closing bracket, which it consumes.
func (l *jsonLexer) more(closing byte) bool {
	c := l.peek()
	first := l.fresh
	l.fresh = false
	switch {
	case l.err != nil:
		return false
	case c == closing:
		l.pos++
		return false
	case first:
		return true
	case c == ',':
		l.pos++
		return true
	}
	l.expect(closing)
	return false
}

// text reads a string without escapes of at most len(scratch) bytes; valid until the next call.
func (l *jsonLexer) text() []byte {
	l.expect('"')
	for n := 0; l.err == nil; n++ {
		if !l.available() {
			l.failf("the input ends in a string")
			break
		}
		c := l.buf[l.pos]
		switch {
		case c == '"':
			l.pos++
			return l.scratch[:n]
		case c == '\\' || c < ' ' || n == len(l.scratch):
			l.failf("a string that is no name of this form")
		default:
			l.scratch[n] = c
			l.pos++
		}
	}
	return nil
}

// key reads the name of a member and its colon.
func (l *jsonLexer) key() []byte {
	k := l.text()
	l.expect(':')
	return k
}

// null reads null.
func (l *jsonLexer) null() {
	l.peek()
	for _, c := range []byte("null") {
		if l.err != nil || !l.available() || l.buf[l.pos] != c {
			l.failf("something where null is needed")
			return
		}
		l.pos++
	}
}

// uint reads a non-negative integer of at most limit.
func (l *jsonLexer) uint(limit uint64) uint64 {
	c := l.peek()
	var v uint64
	digits := 0
	for ; l.err == nil && c >= '0' && c <= '9'; digits++ {
		d := uint64(c - '0')
		if digits > 0 && v == 0 || v > (limit-d)/10 || d > limit {
			l.failf("a number that is above %d, or starts with a zero", limit)
			return 0
		}
		v = v*10 + d
		l.pos++
		if !l.available() {
			digits++
			break
		}
		c = l.buf[l.pos]
	}
	switch {
	case l.err != nil:
		return 0
	case digits == 0 || c == '.' || c == 'e' || c == 'E':
		l.failf("no whole number from 0 to %d", limit)
		return 0
	}
	return v
}

// bytes32 reads an array of exactly 32 numbers below 256.
func (l *jsonLexer) bytes32(n *[32]byte) {
	if l.err == nil && l.bytes32Fast(n) {
		return
	}
	l.open('[')
	count := 0
	for l.more(']') {
		if count == len(n) {
			l.failf("more than 32 bytes")
			return
		}
		n[count] = byte(l.uint(255)) //nolint:gosec // bounded by the lexer
		count++
	}
	if l.err == nil && count != len(n) {
		l.failf("%d bytes where 32 are needed", count)
	}
}

// bytes32Fast reads the array where it is written without white space and lies well inside the buffer, as practically
// always; otherwise it consumes nothing. Numbers of one to three digits come in random order, so that a branch on their
// length would be predicted wrongly for each: four bytes are looked at together, and what is wrong with any is gathered
// until the end.
func (l *jsonLexer) bytes32Fast(n *[32]byte) bool {
	const reach = 1 + 32*5 + 4 // where a wrong number of four digits is still read inside the buffer
	if len(l.buf)-l.pos < reach {
		return false
	}
	b := l.buf[l.pos : l.pos+reach]
	if b[0] != '[' {
		return false
	}
	i := 1
	var wrong, separator uint32
	for k := range n {
		x := binary.LittleEndian.Uint32(b[i:])
		digits := x ^ 0x30303030                                         // 0 to 9 in the bytes that are digits
		others := (digits&0x7f7f7f7f + 0x76767676 | digits) & 0x80808080 // the top bit of those that are not
		length := uint32(bits.TrailingZeros32(others)) / 8               //nolint:gosec // 0 to 32
		last := digits << (32 - 8*length)                                // the last digit in the top byte
		v := last>>24 + 10*(last>>16&0xff) + 100*(last>>8&0xff)
		separator = x >> (8 * length) & 0xff
		wrong |= v>>8 | (length-1)>>31                          // above 255, or no digit
		wrong |= (1 - length) >> 31 & ((digits&0xff - 1) >> 31) // a zero before other digits
		if k < len(n)-1 {
			wrong |= separator ^ ','
		}
		n[k] = byte(v) //nolint:gosec // above 255 is wrong
		i += int(length) + 1
	}
	if wrong != 0 || separator != ']' {
		return false
	}
	l.pos += i
	return true
}

// end is an error where anything but white space follows.
func (l *jsonLexer) end() {
	if c := l.peek(); l.err == nil && l.available() {
		l.failf("%q after the end", c)
	}
}

func (l *jsonLexer) unknown(where string) { l.failf("a member that %s does not have", where) }

// members are the members of an object read so far, a bit each.
type members uint32

// add is an error for a member that was read before.
func (m *members) add(l *jsonLexer, bit members) {
	if *m&bit != 0 {
		l.failf("a member for the second time")
	}
	*m |= bit
}

// all is an error for the first member, in the order of their bits, that was not read.
func (m *members) all(l *jsonLexer, names ...string) {
	for i, name := range names {
		if *m&(1<<i) == 0 {
			l.failf("an object ends without %s", name)
			return
		}
	}
}
