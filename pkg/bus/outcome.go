package bus

import (
	"errors"
	"time"

	"github.com/proofmill/proofmill/pkg/wire"
)

// An outcome is an error of a worker that says what becomes of the message in hand.
type outcome struct {
	err   error
	class wire.Class
	code  wire.Code // given to err if it has none
	delay time.Duration
}

func (o *outcome) Error() string { return o.err.Error() }
func (o *outcome) Unwrap() error { return o.err }

// Terminal says that the work can never succeed: the message is removed and kept as a dead letter, and the gateway is told.
// No further attempt is made.
func Terminal(err error) error {
	return &outcome{err: err, class: wire.Terminal, code: wire.CodeBadRequest}
}

// Transient says that the work may succeed later: the message is delivered again, to any worker, after the delay. The attempt
// counts; after MaxDeliver of them the message ends as by Terminal, with this last error.
func Transient(err error, delay time.Duration) error {
	return &outcome{err: err, class: wire.Transient, code: wire.CodeInternal, delay: delay}
}

// WorkerGone says that this worker, not the work, is at fault: the message goes back to the queue and the attempt does not
// count. The worker should stop pulling until it is well.
func WorkerGone(err error) error {
	return &outcome{err: err, class: wire.WorkerGone, code: wire.CodeWorkerUnavailable}
}

// Interrupted says that the worker is stopping: the message goes back to the queue at once and the attempt does not count.
func Interrupted(err error) error {
	return &outcome{err: err, class: wire.WorkerGone, code: wire.CodeInterrupted}
}

// RetryDelay is the delay of errors that are Transient by their class only.
const RetryDelay = 2 * time.Second

// outcomeOf classifies whatever a worker returned: its control error if it gave one, else the class of its *wire.Error, else a
// transient internal error.
func outcomeOf(err error) *outcome {
	var o *outcome
	if errors.As(err, &o) {
		return o
	}
	e := wire.AsError(err)
	o = &outcome{err: err, class: e.Class, code: e.Code}
	if o.class == wire.Transient {
		o.delay = RetryDelay
		if e.RetryMS > 0 {
			o.delay = time.Duration(e.RetryMS) * time.Millisecond
		}
	}
	return o
}

// wireError is the outcome as it travels.
func (o *outcome) wireError() *wire.Error {
	if _, ok := errors.AsType[*wire.Error](o.err); ok {
		e := *wire.AsError(o.err)
		e.Class = o.class
		return &e
	}
	e := wire.Errorf(o.code, "%w", o.err)
	e.Class = o.class
	return e
}
