package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/proofmill/proofmill/pkg/wire"
)

// PublishResult stores the end of a run and returns the result that counts, which is the first one stored for this run or a later
// one, whoever stored it; first reports whether it is r. This is the point where a run ends: the ledger follows it, and a
// gateway that dies in between is finished by another with the stored result. Subscribers of the result's subject get only what
// counts.
func (c *Conn) PublishResult(ctx context.Context, r *wire.Result) (counts *wire.Result, first bool, err error) {
	data, err := wire.Encode(r)
	if err != nil {
		return nil, false, err
	}
	for {
		stored, seq, err := c.lastResult(ctx, r.JobKey)
		if err != nil {
			return nil, false, err
		}
		if stored != nil && stored.Run >= r.Run {
			return stored, false, nil
		}
		msg := &nats.Msg{Subject: c.names.End(r.JobKey), Header: wire.TaskHeaders(ctx, r.Run, 0, ""), Data: data}
		_, err = c.publish(ctx, msg, jetstream.WithExpectLastSequencePerSubject(seq))
		if err == nil {
			return r, true, nil
		}
		if apiCode(err) != codeWrongLastSequence {
			return nil, false, fmt.Errorf("result of job %s: %w", r.ID.Short(), err)
		}
	}
}

// Result reads the stored result of a job's last run that ended; an error with code no_such_job says that there is none.
func (c *Conn) Result(ctx context.Context, key wire.JobKey) (*wire.Result, error) {
	r, _, err := c.lastResult(ctx, key)
	if err == nil && r == nil {
		err = wire.Errorf(wire.CodeNoSuchJob, "job %s: no result is stored", key.ID.Short())
	}
	return r, err
}

// lastResult reads the last result and its sequence; nil and 0 if there is none.
func (c *Conn) lastResult(ctx context.Context, key wire.JobKey) (*wire.Result, uint64, error) {
	msg, err := directLast(ctx, c.nc, c.api(), c.names.StreamResults(), c.names.End(key))
	if err != nil || msg == nil {
		return nil, 0, err
	}
	r := new(wire.Result)
	if err := wire.Decode(msg.Data, r); err != nil {
		return nil, 0, fmt.Errorf("result of job %s: %w", key.ID.Short(), err)
	}
	return r, sequenceOf(msg), nil
}

// PublishProgress tells people and gateways where a job is. It is not confirmed.
func (c *Conn) PublishProgress(p *wire.Progress) error {
	if p.At == 0 {
		p.At = wire.MillisOf(time.Now())
	}
	data, err := wire.Encode(p)
	if err != nil {
		return err
	}
	return c.nc.Publish(c.names.Progress(p.JobKey), data)
}

// WatchProgress calls handle for all progress from now on, of one job or, with a nil key, of all, until the returned function is
// called. Handle runs in the subscription's own goroutine and must not block for long.
func (c *Conn) WatchProgress(key *wire.JobKey, handle func(p *wire.Progress)) (stop func(), err error) {
	subject := c.names.All("prog")
	if key != nil {
		subject = c.names.Progress(*key)
	}
	sub, err := c.nc.Subscribe(subject, func(msg *nats.Msg) {
		p := new(wire.Progress)
		if err := wire.Decode(msg.Data, p); err != nil {
			c.log.Warn("progress not read", "subject", msg.Subject, "err", err)
			return
		}
		handle(p)
	})
	if err != nil {
		return nil, classify(fmt.Errorf("subscribe %s: %w", subject, err))
	}
	return func() { _ = sub.Unsubscribe() }, nil // fails only on a closed connection
}

// Stop tells the workers that a job has ended; they drop what they have in hand of it. It is not confirmed: a worker that misses
// it finds out from the ledger, or its proof is dropped.
func (c *Conn) Stop(key wire.JobKey) error { return c.nc.Publish(c.names.Stop(key), nil) }

// directLast reads the last message of a subject from a stream without a consumer; nil if there is none. The prefix is that of the
// JetStream API, "$JS.API." by default.
func directLast(ctx context.Context, nc *nats.Conn, api, stream, subject string) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, pullTimeout)
	defer cancel()
	msg, err := nc.RequestWithContext(ctx, api+"DIRECT.GET."+stream+"."+subject, nil)
	if err != nil {
		return nil, classify(fmt.Errorf("read %s: %w", subject, err))
	}
	switch status := msg.Header.Get("Status"); status {
	case "":
		return msg, nil
	case "404":
		return nil, nil
	default:
		return nil, classify(fmt.Errorf("read %s: %w", subject, errors.New(status+" "+msg.Header.Get("Description"))))
	}
}

func sequenceOf(msg *nats.Msg) uint64 {
	var seq uint64
	if _, err := fmt.Sscan(msg.Header.Get(jetstream.SequenceHeader), &seq); err != nil {
		return 0
	}
	return seq
}
