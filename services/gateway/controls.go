package gateway

import (
	"context"
	"errors"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/wire"
)

// cancel ends a job as cancelled if it is under way. Its workers are told before the answer goes out.
func (s *Service) cancel(ctx context.Context, c *wire.Cancel) (*wire.Reply, error) {
	record, _, err := s.ledger.Get(ctx, c.JobKey)
	if errors.Is(err, wire.CodeNoSuchJob) {
		return &wire.Reply{}, nil
	}
	if err != nil {
		return nil, err
	}
	if record.State.Ended() || c.Run != 0 && c.Run != record.Run {
		return bus.StatusOf(record), nil
	}
	reason := wire.Errorf(wire.CodeCancelled, "cancelled on request")
	if c.Reason != "" {
		reason = wire.Errorf(wire.CodeCancelled, "cancelled on request: %s", c.Reason)
	}
	if err := s.end(ctx, record, wire.Cancelled, reason); err != nil {
		return nil, err
	}
	after, _, err := s.ledger.Get(ctx, c.JobKey)
	if err != nil {
		return nil, err
	}
	reply := bus.StatusOf(after)
	reply.Live = true
	return reply, nil
}

// status reports a job's state.
func (s *Service) status(ctx context.Context, key wire.JobKey) (*wire.Reply, error) {
	record, _, err := s.ledger.Get(ctx, key)
	if errors.Is(err, wire.CodeNoSuchJob) {
		return &wire.Reply{}, nil
	}
	if err != nil {
		return nil, err
	}
	return bus.StatusOf(record), nil
}
