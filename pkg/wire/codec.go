package wire

import (
	"bytes"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
)

// Version is the version of every message that this package writes, and the only one that it reads.
const Version = 1

// MaxMessageBytes bounds an encoded message. It leaves room for headers below the NATS default payload limit of 1 MiB.
const MaxMessageBytes = 1<<20 - 32<<10

// Head is the first part of each message: its version. Encode sets it.
type Head struct {
	V uint8 `msgpack:"v"`
}

func (h *Head) head() *Head { return h }

// Message is implemented by pointers to the message types of this package.
type Message interface {
	// Validate reports the first field that contradicts the protocol. It does not block and keeps nothing.
	Validate() error
	head() *Head
}

// Encode validates m, sets its version and returns its bytes, owned by the caller. Equal messages give equal bytes.
func Encode(m Message) ([]byte, error) {
	m.head().V = Version
	if err := m.Validate(); err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	enc := msgpack.NewEncoder(&buf)
	enc.UseCompactInts(true)
	enc.SetSortMapKeys(true)
	if err := enc.Encode(m); err != nil {
		return nil, Errorf(CodeInternal, "message %T: encode: %w", m, err)
	}
	if buf.Len() > MaxMessageBytes {
		return nil, Errorf(CodeMessageTooLarge, "message %T: %d bytes, at most %d fit: store inputs as objects", m, buf.Len(), MaxMessageBytes)
	}
	return buf.Bytes(), nil
}

// Decode reads exactly one message from data into m, which must be the zero value of its type. The message does not keep
// data. Errors are of type *Error with code bad_message, unsupported_version, or that of the failed validation.
func Decode(data []byte, m Message) error {
	if len(data) > MaxMessageBytes {
		return Errorf(CodeMessageTooLarge, "message %T: %d bytes, at most %d are read", m, len(data), MaxMessageBytes)
	}
	if err := checkShape(data); err != nil {
		return Errorf(CodeBadMessage, "message %T: %w", m, err)
	}
	version, err := peekVersion(data)
	if err != nil {
		return Errorf(CodeBadMessage, "message %T: %w", m, err)
	}
	if version != Version {
		return Errorf(CodeUnsupportedVersion, "message %T: version %d, this program reads version %d", m, version, Version)
	}
	dec := msgpack.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields(true)
	if err := dec.Decode(m); err != nil {
		return Errorf(CodeBadMessage, "message %T: %w", m, err)
	}
	return m.Validate()
}

// peekVersion reads the version, which is the first entry of the map, so that a message of a later version is named as such
// rather than as one with unknown fields.
func peekVersion(data []byte) (uint64, error) {
	dec := msgpack.NewDecoder(bytes.NewReader(data))
	n, err := dec.DecodeMapLen()
	if err != nil {
		return 0, fmt.Errorf("not a map: %w", err)
	}
	if n < 1 {
		return 0, fmt.Errorf("an empty map")
	}
	key, err := dec.DecodeString()
	if err != nil || key != "v" {
		return 0, fmt.Errorf("first key is %q, want \"v\"", key)
	}
	v, err := dec.DecodeUint64()
	if err != nil {
		return 0, fmt.Errorf("version: %w", err)
	}
	return v, nil
}
