package host

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/proofmill/proofmill/pkg/bus"
)

// Pull runs the handler for one message at a time in each of a number of slots until pull ends and all slots are empty. A slot whose
// worker is gone ends the others after what they have in hand, and Pull returns its error; work that was interrupted because the
// service stops is no error.
func (h *Host) Pull(pull context.Context, q *bus.Queue, slots int, handle func(ctx context.Context, d *bus.Delivery) error) error {
	g, inner := errgroup.WithContext(pull)
	for range slots {
		g.Go(func() error {
			return q.Run(inner, func(ctx context.Context, d *bus.Delivery) error {
				h.Busy.Add(1)
				defer h.Busy.Add(-1)
				err := Outcome(ctx, handle(ctx, d))
				switch {
				case err == nil:
					h.Done.Add(1)
				case !errors.Is(err, bus.ErrStopped):
					h.Failed.Add(1)
					h.Log.WarnContext(ctx, "partition not done", "work", string(d.Address.Work), "job", d.Address.Key.ID.Short(),
						"partition", d.Address.Partition, "delivery", d.Delivered, "err", err)
				}
				return err
			})
		})
	}
	err := g.Wait()
	if errors.Is(err, ErrDrainTimeout) {
		return nil
	}
	return err
}
