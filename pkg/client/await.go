package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/proofmill/proofmill/pkg/wire"
)

// Await blocks until the job has ended or ctx ends. A completed job gives its result and no error; any other end gives the result,
// with its timings, and the error that says why: codes cancelled, expired, or the failure's. It survives lost connections, and may
// be called by any process that knows the id, up to 24 hours after the end. In a process that submitted the job, ends of earlier
// runs are not taken for its end.
func (c *Client) Await(ctx context.Context, id wire.JobID) (*wire.Result, error) {
	c.mu.Lock()
	run := c.runs[id]
	c.mu.Unlock()

	messages := make(chan *nats.Msg, 4)
	sub, err := c.nc.ChanSubscribe(c.names.Result(c.key(id)), messages)
	if err != nil {
		return nil, wire.Errorf(wire.CodeStoreUnavailable, "await job %s: %w", id.Short(), err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only on a closed connection
	status := c.nc.StatusChanged(nats.CONNECTED, nats.CLOSED)
	defer c.nc.RemoveStatusListener(status)
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()

	// The subscription is there before the first look, so that no end falls between the two.
	for {
		r, err := c.stored(ctx, id)
		switch {
		case err == nil && r != nil && r.Run >= run:
			c.forget(id, run)
			err := r.Err()
			return r, err
		case ctx.Err() != nil:
			return nil, fmt.Errorf("await job %s: %w", id.Short(), ctx.Err())
		case c.nc.IsClosed():
			return nil, wire.Errorf(wire.CodeStoreUnavailable, "await job %s: %w", id.Short(), nats.ErrConnectionClosed)
		case err != nil && wire.ClassOf(err) == wire.Terminal:
			return nil, err
		}
		select {
		case <-messages:
		case <-status:
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// Prove submits the request and awaits its end. When ctx ends before the job does, the job is cancelled, for all who await it, as
// far as a gateway can be reached; use Submit and Await where others may want the proof. Progress, if not nil, is called as by Watch.
func (c *Client) Prove(ctx context.Context, r Request, progress func(p *wire.Progress)) (*wire.Result, error) {
	if progress != nil {
		stop, err := c.Watch(r.ID(), progress)
		if err != nil {
			return nil, err
		}
		defer stop()
	}
	result, err := c.submitAndAwait(ctx, r)
	if result == nil && ctx.Err() != nil {
		// Submit may have been interrupted after the fleet took the request, so this is for both halves.
		id := r.ID()
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
		defer cancel()
		_, cerr := c.Cancel(late, id, "the caller's context ended: "+context.Cause(ctx).Error())
		if cerr != nil && !errors.Is(cerr, wire.CodeNoSuchJob) {
			err = errors.Join(err, cerr)
		}
	}
	return result, err
}

func (c *Client) submitAndAwait(ctx context.Context, r Request) (*wire.Result, error) {
	id, err := c.Submit(ctx, r)
	if err != nil {
		return nil, err
	}
	return c.Await(ctx, id)
}

// Result gives the stored end of the job's last run without waiting, and its error as Await does; code no_such_job says that none
// is stored.
func (c *Client) Result(ctx context.Context, id wire.JobID) (*wire.Result, error) {
	r, err := c.stored(ctx, id)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, wire.Errorf(wire.CodeNoSuchJob, "job %s: no result is stored", id.Short())
	}
	err = r.Err()
	return r, err
}

// stored reads the last stored result, nil if there is none.
func (c *Client) stored(ctx context.Context, id wire.JobID) (*wire.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	key := c.key(id)
	msg, err := c.nc.RequestWithContext(ctx, c.api+"DIRECT.GET."+c.names.StreamResults()+"."+c.names.End(key), nil)
	if errors.Is(err, nats.ErrNoResponders) {
		return nil, wire.Errorf(wire.CodeNoGateway, "job %s: no fleet with prefix %s: %w", id.Short(), c.names.Prefix(), err)
	}
	if err != nil {
		return nil, wire.Errorf(wire.CodeStoreUnavailable, "job %s: result: %w", id.Short(), err)
	}
	switch status := msg.Header.Get("Status"); status {
	case "":
	case "404":
		return nil, nil
	default:
		return nil, wire.Errorf(wire.CodeStoreUnavailable, "job %s: result: status %s %s", id.Short(), status, msg.Header.Get("Description"))
	}
	r := new(wire.Result)
	if err := wire.Decode(msg.Data, r); err != nil {
		return nil, fmt.Errorf("job %s: result: %w", id.Short(), err)
	}
	if r.JobKey != key {
		return nil, wire.Errorf(wire.CodeBadMessage, "job %s: the stored result is that of job %s", id.Short(), r.ID)
	}
	return r, nil
}
