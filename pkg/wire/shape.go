package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Limits of the shape of a message, checked over the raw bytes before a decoder may allocate.
const (
	maxDepth    = 6
	maxElements = 1 << 16
	maxMapLen   = 64
)

var errTruncated = errors.New("truncated")

// checkShape walks one MessagePack value without allocating and refuses whatever no message of this package contains: more
// than one value, truncation, nil, floats, extension types, maps with keys that are not short unique strings, and anything
// deeper or longer than the limits.
func checkShape(data []byte) error {
	s := shape{data: data}
	if err := s.value(0); err != nil {
		return err
	}
	if s.pos != len(data) {
		return fmt.Errorf("%d bytes after the end", len(data)-s.pos)
	}
	return nil
}

type shape struct {
	data     []byte
	pos      int
	elements int
}

// take moves over n bytes and returns them.
func (s *shape) take(n int) ([]byte, error) {
	if n < 0 || n > len(s.data)-s.pos {
		return nil, errTruncated
	}
	b := s.data[s.pos : s.pos+n]
	s.pos += n
	return b, nil
}

// length reads a big-endian length of 1, 2 or 4 bytes.
func (s *shape) length(width int) (int, error) {
	b, err := s.take(width)
	if err != nil {
		return 0, err
	}
	switch width {
	case 1:
		return int(b[0]), nil
	case 2:
		return int(binary.BigEndian.Uint16(b)), nil
	default:
		n := binary.BigEndian.Uint32(b)
		if n > MaxMessageBytes {
			return 0, fmt.Errorf("a length of %d", n)
		}
		return int(n), nil
	}
}

func (s *shape) value(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	if s.elements++; s.elements > maxElements {
		return fmt.Errorf("more than %d values", maxElements)
	}
	b, err := s.take(1)
	if err != nil {
		return err
	}
	switch c := b[0]; {
	case c <= 0x7f, c >= 0xe0, c == 0xc2, c == 0xc3: // small integers, booleans
		return nil
	case c <= 0x8f:
		return s.mapping(int(c&0x0f), depth)
	case c <= 0x9f:
		return s.array(int(c&0x0f), depth)
	case c <= 0xbf:
		return s.skip(int(c & 0x1f))
	case c == 0xc4, c == 0xc5, c == 0xc6: // byte strings
		return s.skipPrefixed(1 << (c - 0xc4))
	case c >= 0xcc && c <= 0xcf: // unsigned integers
		return s.skip(1 << (c - 0xcc))
	case c >= 0xd0 && c <= 0xd3: // signed integers
		return s.skip(1 << (c - 0xd0))
	case c >= 0xd9 && c <= 0xdb: // strings
		return s.skipPrefixed(1 << (c - 0xd9))
	case c == 0xdc, c == 0xdd:
		n, err := s.length(2 << (c - 0xdc))
		if err != nil {
			return err
		}
		return s.array(n, depth)
	case c == 0xde, c == 0xdf:
		n, err := s.length(2 << (c - 0xde))
		if err != nil {
			return err
		}
		return s.mapping(n, depth)
	default:
		return fmt.Errorf("type byte %#x is not used by any message", c)
	}
}

func (s *shape) skip(n int) error {
	_, err := s.take(n)
	return err
}

func (s *shape) skipPrefixed(width int) error {
	n, err := s.length(width)
	if err != nil {
		return err
	}
	return s.skip(n)
}

func (s *shape) array(n, depth int) error {
	for range n {
		if err := s.value(depth + 1); err != nil {
			return err
		}
	}
	return nil
}

func (s *shape) mapping(n, depth int) error {
	if n > maxMapLen {
		return fmt.Errorf("a map of %d entries", n)
	}
	var keys [maxMapLen][]byte
	for i := range n {
		b, err := s.take(1)
		if err != nil {
			return err
		}
		var size int
		switch {
		case b[0] >= 0xa0 && b[0] <= 0xbf:
			size = int(b[0] & 0x1f)
		case b[0] == 0xd9:
			if size, err = s.length(1); err != nil {
				return err
			}
		default:
			return fmt.Errorf("a map key of type byte %#x", b[0])
		}
		if keys[i], err = s.take(size); err != nil {
			return err
		}
		for _, earlier := range keys[:i] {
			if bytes.Equal(earlier, keys[i]) {
				return fmt.Errorf("key %q twice", keys[i])
			}
		}
		if err := s.value(depth + 1); err != nil {
			return err
		}
	}
	return nil
}
