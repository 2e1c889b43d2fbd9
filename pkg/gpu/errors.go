package gpu

import (
	"bytes"
	"errors"
	"fmt"
)

var (
	// ErrUnavailable is in the tree of errors that say that there is no usable library, driver or device.
	ErrUnavailable = errors.New("no usable GPU")
	// ErrPoisoned is in the tree of errors after a fault of a device.
	ErrPoisoned = errors.New("device had a fault")
	// ErrMemory is in the tree of errors that say that device memory does not suffice.
	ErrMemory = errors.New("device memory does not suffice")
)

// Codes of the library.
const (
	codeOK = iota
	codeArgument
	codeMemory
	codeDevice
	codeInternal
)

// Error is a failed call of the library.
type Error struct {
	Call string // what was asked for
	Code int    // 1 argument, 2 memory, 3 device, 4 internal
	CUDA int    // CUDA's own code, 0 where it had no part
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Call, e.Text) }

// Is makes memory and device errors match [ErrMemory] and [ErrPoisoned].
func (e *Error) Is(target error) bool {
	return target == ErrMemory && e.Code == codeMemory || target == ErrPoisoned && e.Code == codeDevice
}

// callError mirrors pm_error.
type callError struct {
	_    int32 // the code, which is the call's result too
	cuda int32
	text [504]byte
}

func (c *callError) err(call string, code int32) error {
	if code == codeOK {
		return nil
	}
	text, _, _ := bytes.Cut(c.text[:], []byte{0})
	return &Error{Call: call, Code: int(code), CUDA: int(c.cuda), Text: string(text)}
}
