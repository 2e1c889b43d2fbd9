package wire

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxErrorBytes bounds the text of an error on the wire.
const MaxErrorBytes = 2048

// Class says what an error means for the job.
type Class uint8

// The three classes.
const (
	// Terminal: the same request fails again. The job ends as failed at once.
	Terminal Class = 1
	// Transient: the same request may succeed later. The attempt counts; the job goes on while attempts are left.
	Transient Class = 2
	// WorkerGone: the worker, not the work, is at fault. The work is done elsewhere and the attempt does not count.
	WorkerGone Class = 3
)

var classNames = [...]string{Terminal: "terminal", Transient: "transient", WorkerGone: "worker-gone"}

// Valid reports whether c is one of the three classes.
func (c Class) Valid() bool { return c >= Terminal && c <= WorkerGone }

// String gives terminal, transient or worker-gone.
func (c Class) String() string {
	if !c.Valid() {
		return "unclassified"
	}
	return classNames[c]
}

// Error is a classified error, in Go and on the wire. Find one in a chain by errors.As, or compare its code by errors.Is with
// a Code. An unknown code of a newer program keeps its class, which is why both travel.
type Error struct {
	Code    Code              `msgpack:"code"`
	Class   Class             `msgpack:"class"`
	Message string            `msgpack:"msg"`
	Detail  map[string]string `msgpack:"detail,omitempty"` // such as sector, challenge, file; at most 16 entries
	RetryMS int64             `msgpack:"retry,omitempty"`  // when to try again, for busy

	cause error // what Errorf was given, for the chain
}

// Errorf makes an error of the code's class. The format is that of fmt.Errorf, %w included: the wrapped error stays in the
// chain on this side of the wire, its text travels.
func Errorf(code Code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Code: code, Class: code.Class(), Message: clip(wrapped.Error()), cause: wrapped}
}

// clip shortens s to MaxErrorBytes at a rune's boundary and replaces what is not UTF-8.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > MaxErrorBytes {
		cut := MaxErrorBytes
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut]
	}
	return s
}

// With adds a detail and returns e.
func (e *Error) With(key, value string) *Error {
	if e.Detail == nil {
		e.Detail = make(map[string]string)
	}
	e.Detail[key] = clip(value)
	return e
}

// RetryAfter sets when to try again and returns e.
func (e *Error) RetryAfter(d time.Duration) *Error {
	e.RetryMS = d.Milliseconds()
	return e
}

// Error gives the message and the code's name.
func (e *Error) Error() string { return e.Message + " (" + e.Code.String() + ")" }

// Unwrap gives the cause, which exists only in the process where the error arose.
func (e *Error) Unwrap() error { return e.cause }

// Is matches a Code, so that errors.Is(err, wire.CodeBusy) works.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c == e.Code
}

func (e *Error) validate() error {
	if e.Code == 0 || !e.Class.Valid() || len(e.Message) > MaxErrorBytes || len(e.Detail) > 16 || e.RetryMS < 0 {
		return Errorf(CodeBadMessage, "error record: code %d, class %d, %d bytes, %d details", e.Code, e.Class, len(e.Message), len(e.Detail))
	}
	for k, v := range e.Detail {
		if len(k) > 64 || len(v) > MaxErrorBytes {
			return Errorf(CodeBadMessage, "error record: detail %.64q is too long", k)
		}
	}
	return nil
}

// AsError finds the *Error in err's chain; any other error becomes one with code internal, and a nil err stays nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Message == clip(err.Error()) || err == error(e) { //nolint:errorlint // that it is e itself: an error around e says more
			return e
		}
		// Keep what the outer errors say, and the innermost classification.
		c := *e
		c.Message, c.cause = clip(err.Error()), err
		return &c
	}
	return &Error{Code: CodeInternal, Class: CodeInternal.Class(), Message: clip(err.Error()), cause: err}
}

// ClassOf is the class of err: that of the *Error in its chain, else Transient, as nothing is known to be wrong with the
// request. It is 0 for nil.
func ClassOf(err error) Class {
	if err == nil {
		return 0
	}
	return AsError(err).Class
}
