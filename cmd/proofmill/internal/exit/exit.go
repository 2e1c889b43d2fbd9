// Package exit gives errors the exit code and the hint with which a command ends.
package exit

import (
	"errors"
	"fmt"
)

// Code is the exit code of the process. The numbers from 64 are those of sysexits.h, which systemd and scripts know.
type Code int

// Exit codes. [Table] describes them.
const (
	OK          Code = 0
	Failed      Code = 1
	Usage       Code = 2
	BadInput    Code = 65
	Unavailable Code = 69
	TryAgain    Code = 75
	BadConfig   Code = 78
	Interrupted Code = 130
	BrokenPipe  Code = 141
	Terminated  Code = 143
)

// Meaning says what a code tells a script.
type Meaning struct {
	Code Code   `json:"code"`
	Name string `json:"name"`
	Text string `json:"text"`
}

// Table lists all codes in order.
func Table() []Meaning {
	return []Meaning{
		{OK, "ok", "the command did what it was asked for; a service drained and stopped"},
		{Failed, "failed", "the work failed for good: a proof does not verify, a job ended as failed"},
		{Usage, "usage", "the command line is wrong"},
		{BadInput, "bad input", "an input file or value is malformed, contradictory or not supported"},
		{Unavailable, "unavailable", "NATS, a service or a file that is needed cannot be reached"},
		{TryAgain, "try again", "a temporary failure: the same command may succeed later"},
		{BadConfig, "bad configuration", "the configuration file or a PROOFMILL_ variable is wrong"},
		{Interrupted, "interrupted", "stopped by SIGINT"},
		{BrokenPipe, "broken pipe", "the reader of the output went away"},
		{Terminated, "terminated", "stopped by SIGTERM before the work was done"},
	}
}

// Error is an error with the code of its exit and, where one helps, a hint: what the user can do, in one line.
type Error struct {
	Code Code
	Hint string

	err error
}

// Error gives the text of the error, without the hint.
func (e *Error) Error() string { return e.err.Error() }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.err }

// Wrap gives err a code and a hint (which may be empty). It is nil for a nil err.
func Wrap(code Code, err error, hint string) error {
	if err == nil {
		return nil
	}
	return &Error{Code: code, Hint: hint, err: err}
}

// Errorf makes an error with a code; the format is that of fmt.Errorf.
func Errorf(code Code, format string, args ...any) error {
	return &Error{Code: code, err: fmt.Errorf(format, args...)}
}

// CodeOf finds the code of err: [OK] for nil, [Failed] for an error without one.
func CodeOf(err error) Code {
	if err == nil {
		return OK
	}
	if coded, ok := errors.AsType[*Error](err); ok {
		return coded.Code
	}
	return Failed
}

// HintOf finds the outermost hint of err, or "".
func HintOf(err error) string {
	for err != nil {
		coded, ok := errors.AsType[*Error](err)
		if !ok {
			return ""
		}
		if coded.Hint != "" {
			return coded.Hint
		}
		err = coded.err
	}
	return ""
}
