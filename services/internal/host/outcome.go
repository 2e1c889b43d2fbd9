package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/services/internal/fault"
)

// Outcome says what an error of the work means for the message in hand. ctx is that of the delivery: once it has ended, whatever
// the work said is the consequence. A job that ended takes its messages along; a service that stops gives its work back.
func Outcome(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		cause := context.Cause(ctx)
		if errors.Is(cause, bus.ErrStopped) {
			return cause
		}
		return bus.Interrupted(fmt.Errorf("interrupted: %w", cause))
	}
	return fault.Of(err, wire.CodeInternal)
}
