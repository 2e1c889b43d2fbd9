package host

import (
	"context"
	"log/slog"
	"time"

	"github.com/proofmill/proofmill/pkg/wire"
)

// retryEvery is the pause between tries of what the start of a service needs from others.
const retryEvery = 500 * time.Millisecond

// Retry calls try until it succeeds, fails for a reason that waiting does not cure, or ctx ends, which is no error. It logs a failure
// when it came twice. It is for starts in any order: a worker waits for the gateway that makes the streams.
func Retry(ctx context.Context, log *slog.Logger, what string, try func() error) error {
	last, logged := "", ""
	for {
		err := try()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // who asked for it does not want it any more
		}
		if wire.ClassOf(err) != wire.Transient {
			return err
		}
		if text := err.Error(); text == last && text != logged {
			logged = text
			log.Warn(what+": not there yet, it is tried again", "err", err)
		}
		last = err.Error()
		timer := time.NewTimer(retryEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}
