package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/synadia-io/orbit.go/jetstreamext"

	"github.com/proofmill/proofmill/pkg/wire"
)

// publishTimeout bounds one publication, all retries included.
const publishTimeout = 10 * time.Second

// PublishSynth publishes synth jobs of one job in one atomic batch: all of them or none. The consumers of their circuit must
// exist (EnsureCircuits). What was published before, with the same run, partition and attempt, is not stored again.
func (c *Conn) PublishSynth(ctx context.Context, jobs []*wire.SynthJob) error {
	msgs := make([]*nats.Msg, 0, len(jobs))
	for _, j := range jobs {
		m, err := c.taskMsg(ctx, wire.WorkSynth, &j.Task, j)
		if err != nil {
			return err
		}
		msgs = append(msgs, m)
	}
	if err := c.publishAll(ctx, msgs); err != nil {
		return fmt.Errorf("synth jobs: %w", err)
	}
	return c.wake(wire.WorkSynth)
}

// PublishProve publishes a prove job. A repetition with the same run, partition and attempt is not stored.
func (c *Conn) PublishProve(ctx context.Context, j *wire.ProveJob) error {
	return c.publishTask(ctx, wire.WorkProve, &j.Task, j)
}

// PublishDone publishes a partition's proof or failure for the gateways. A repetition with the same run, partition and attempt is
// not stored: the first outcome of an attempt counts.
func (c *Conn) PublishDone(ctx context.Context, p *wire.PartitionProof) error {
	return c.publishTask(ctx, wire.WorkDone, &p.Task, p)
}

// PublishRequest publishes a request as a client does; it reports whether the same one was already stored.
func (c *Conn) PublishRequest(ctx context.Context, r *wire.Request) (duplicate bool, err error) {
	subject, header, data, err := wire.RequestEnvelope(ctx, c.names, r)
	if err != nil {
		return false, err
	}
	ack, err := c.publish(ctx, &nats.Msg{Subject: subject, Header: header, Data: data})
	if err != nil {
		return false, fmt.Errorf("request: %w", err)
	}
	return ack.Duplicate, c.wake(wire.WorkRequests)
}

func (c *Conn) taskMsg(ctx context.Context, w wire.Work, t *wire.Task, m wire.Message) (*nats.Msg, error) {
	data, err := wire.Encode(m)
	if err != nil {
		return nil, err
	}
	id := fmt.Sprintf("%s.%s.%d.%d.%d", w, t.JobKey, t.Run, t.Partition, t.Attempt)
	return &nats.Msg{
		Subject: c.names.Task(w, t, wire.LaneOf(t.Deadline, time.Now())),
		Header:  wire.TaskHeaders(ctx, t.Run, t.Deadline, id),
		Data:    data,
	}, nil
}

func (c *Conn) publishTask(ctx context.Context, w wire.Work, t *wire.Task, m wire.Message) error {
	msg, err := c.taskMsg(ctx, w, t, m)
	if err != nil {
		return err
	}
	if _, err := c.publish(ctx, msg); err != nil {
		return fmt.Errorf("%s of job %s, partition %d: %w", w, t.ID.Short(), t.Partition, err)
	}
	return c.wake(w)
}

// publish stores one message, trying again while the connection is away.
func (c *Conn) publish(ctx context.Context, msg *nats.Msg, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	ack, err := c.js.PublishMsg(ctx, msg, append(opts, jetstream.WithRetryAttempts(10), jetstream.WithRetryWait(250*time.Millisecond))...)
	if err != nil {
		return nil, classify(fmt.Errorf("publish %s: %w", msg.Subject, err))
	}
	return ack, nil
}

// publishAll stores all messages or none.
func (c *Conn) publishAll(ctx context.Context, msgs []*nats.Msg) error {
	if len(msgs) == 0 {
		return nil
	}
	if len(msgs) == 1 {
		_, err := c.publish(ctx, msgs[0])
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	_, err := jetstreamext.PublishMsgBatch(ctx, c.js, msgs)
	if errors.Is(err, jetstreamext.ErrBatchPublishDuplicateMsgID) {
		// Some or all were stored before. One by one, the server drops exactly those.
		for _, m := range msgs {
			for _, h := range []string{jetstreamext.BatchIDHeader, jetstreamext.BatchSeqHeader, jetstreamext.BatchCommitHeader} {
				m.Header.Del(h)
			}
			m.Reply = ""
			if _, err := c.publish(ctx, m); err != nil {
				return err
			}
		}
		return nil
	}
	return classify(err)
}

// wake tells idle workers that there is work. It needs no answer, as they also look by themselves.
func (c *Conn) wake(w wire.Work) error { return c.nc.Publish(c.names.Wake(w), nil) }
