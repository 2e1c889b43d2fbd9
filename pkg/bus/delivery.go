package bus

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/proofmill/proofmill/pkg/wire"
)

// maxReturns bounds how often a message may go back without an attempt being counted.
const maxReturns = 50

// Delivery is a message that a worker has in hand. Heartbeats keep it there until Settle; if the process dies, another worker gets
// the message after its class's AckWait.
type Delivery struct {
	Address   wire.Address
	Data      []byte
	Header    nats.Header
	Delivered int       // counted from 1, over all workers
	Stored    time.Time // when the server stored the message

	queue  *Queue
	msg    *nats.Msg
	ctx    context.Context
	cancel context.CancelCauseFunc
	settle sync.Once
	done   chan struct{} // ends the heartbeat
}

func newDelivery(q *Queue, msg *nats.Msg) (*Delivery, error) {
	address, err := q.conn.names.ParseWork(msg.Subject)
	if err != nil {
		return nil, err
	}
	meta, err := msg.Metadata()
	if err != nil {
		return nil, fmt.Errorf("message without metadata: %w", err)
	}
	d := &Delivery{
		Address: address, Data: msg.Data, Header: msg.Header, Delivered: int(meta.NumDelivered), Stored: meta.Timestamp, //nolint:gosec // small
		queue: q, msg: msg, done: make(chan struct{}),
	}
	d.ctx, d.cancel = context.WithCancelCause(wire.Extract(q.work, msg.Header))
	return d, nil
}

// Context is that of the work: it carries the trace context of the message and ends when the job has ended (cause ErrStopped),
// when the queue's context ends, or after Settle.
func (d *Delivery) Context() context.Context { return d.ctx }

// Deadline is the message's, 0 for none.
func (d *Delivery) Deadline() wire.Millis { return wire.DeadlineOf(d.Header) }

// Run is the job's run that the message belongs to, at least 1.
func (d *Delivery) Run() uint32 { return runOf(d.Header) }

func runOf(header nats.Header) uint32 {
	v, err := strconv.ParseUint(header.Get(wire.HeaderRun), 10, 32)
	if err != nil || v == 0 {
		return 1
	}
	return uint32(v)
}

// beat tells the server at a third of the AckWait that the message is being worked on. It is the only goroutine of a delivery.
func (d *Delivery) beat() {
	defer d.queue.beats.Done()
	ticker := time.NewTicker(AckWaitOf(d.Address.Priority) / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			// Not acknowledged by the server; a lost one costs nothing, as the next comes in time.
			if err := d.queue.conn.nc.Publish(d.msg.Reply, []byte("+WPI")); err != nil {
				d.queue.conn.log.Warn("queue: heartbeat not sent", "job", d.Address.Key.ID.Short(), "err", err)
			}
		case <-d.done:
			return
		case <-d.queue.work.Done():
			if errors.Is(context.Cause(d.queue.work), ErrQueueClosed) {
				return
			}
			// The work's context has ended, but the worker is still cleaning up and will settle.
			select {
			case <-d.done:
			case <-time.After(AckWaitOf(d.Address.Priority)):
			}
			return
		}
	}
}

type verdict int

const (
	do verdict = iota
	drop
	late
)

// judge asks the ledger whether the work is still wanted.
func (d *Delivery) judge(ctx context.Context) (verdict, error) {
	task, err := taskOf(d.Address.Work, d.Data)
	if err != nil {
		return do, nil //nolint:nilerr // the worker reads the same bytes and says what is wrong with them
	}
	record, _, err := d.queue.ledger.Get(ctx, d.Address.Key)
	switch {
	case errors.Is(err, wire.CodeNoSuchJob):
		return drop, nil
	case err != nil:
		return do, err
	case !record.Counts(task):
		return drop, nil
	}
	if d.Deadline().Passed(time.Now()) {
		return late, nil
	}
	return do, nil
}

// taskOf reads the task of a synth or prove job.
func taskOf(w wire.Work, data []byte) (*wire.Task, error) {
	switch w {
	case wire.WorkSynth:
		j := new(wire.SynthJob)
		return &j.Task, wire.Decode(data, j)
	case wire.WorkProve:
		j := new(wire.ProveJob)
		return &j.Task, wire.Decode(data, j)
	default:
		return nil, wire.Errorf(wire.CodeBadMessage, "queue %s has no tasks", w)
	}
}

// Request reads the message of a request queue. The account and content must be those of the subject, which the server's permissions
// have checked.
func (d *Delivery) Request() (*wire.Request, error) {
	r := new(wire.Request)
	if err := wire.Decode(d.Data, r); err != nil {
		return nil, err
	}
	if key := r.Key(); key != d.Address.Key {
		return nil, wire.Errorf(wire.CodeNotPermitted, "request: it is job %s of account %s, but was sent as job %s of account %s",
			key.ID.Short(), key.Account, d.Address.Key.ID.Short(), d.Address.Key.Account)
	}
	return r, nil
}

// SynthJob reads the message of a synth queue.
func (d *Delivery) SynthJob() (*wire.SynthJob, error) {
	j := new(wire.SynthJob)
	if err := wire.Decode(d.Data, j); err != nil {
		return nil, err
	}
	return j, d.checkTask(&j.Task)
}

// ProveJob reads the message of a prove queue.
func (d *Delivery) ProveJob() (*wire.ProveJob, error) {
	j := new(wire.ProveJob)
	if err := wire.Decode(d.Data, j); err != nil {
		return nil, err
	}
	return j, d.checkTask(&j.Task)
}

// PartitionProof reads the message of the gateways' queue of outcomes.
func (d *Delivery) PartitionProof() (*wire.PartitionProof, error) {
	p := new(wire.PartitionProof)
	if err := wire.Decode(d.Data, p); err != nil {
		return nil, err
	}
	return p, d.checkTask(&p.Task)
}

func (d *Delivery) checkTask(t *wire.Task) error {
	if t.JobKey != d.Address.Key || t.Partition != d.Address.Partition {
		return wire.Errorf(wire.CodeBadMessage, "message about job %s, partition %d: it was sent as job %s, partition %d",
			t.ID.Short(), t.Partition, d.Address.Key.ID.Short(), d.Address.Partition)
	}
	return nil
}

// Settle says what became of the work and ends the delivery. Call it once; later calls do nothing. With nil the message is
// removed, and the server's confirmation is waited for: whatever the work produced must be stored before. An error is treated as
// Terminal, Transient, WorkerGone and Interrupted describe, or by its wire class, or as Transient. If the job has ended the
// message is removed in any case. An error of Settle means that the message may be delivered again.
func (d *Delivery) Settle(ctx context.Context, err error) error {
	var result error
	d.settle.Do(func() {
		result = d.settleOnce(ctx, err)
		close(d.done)
		d.queue.forget(d)
		d.cancel(context.Canceled)
	})
	return result
}

func (d *Delivery) settleOnce(ctx context.Context, err error) error {
	c := d.queue.conn
	if err == nil || errors.Is(context.Cause(d.ctx), ErrStopped) {
		return c.acknowledge(ctx, d.msg, "+ACK")
	}
	o := outcomeOf(err)
	if o.class == wire.WorkerGone && d.returns() >= maxReturns {
		o.class = wire.Transient
	}
	if o.class == wire.Transient && d.Delivered >= MaxDeliver {
		o = &outcome{class: wire.Terminal, code: wire.CodeAttemptsExhausted,
			err: wire.Errorf(wire.CodeAttemptsExhausted, "%s of job %s, partition %d: given up after %d deliveries: %s",
				d.Address.Work, d.Address.Key.ID.Short(), d.Address.Partition, d.Delivered, err)}
	}
	switch o.class {
	case wire.Terminal:
		reason := o.wireError()
		if err := c.bury(ctx, &letter{subject: d.msg.Subject, header: d.Header, data: d.Data, delivered: d.Delivered, reason: reason}); err != nil {
			return err
		}
		return c.term(ctx, d.msg, reason.Code.String())
	case wire.WorkerGone:
		if err := d.giveBack(ctx); err != nil {
			return err
		}
		return c.acknowledge(ctx, d.msg, "+ACK")
	default:
		return c.acknowledge(ctx, d.msg, fmt.Sprintf(`-NAK {"delay": %d}`, o.delay.Nanoseconds()))
	}
}

func (d *Delivery) returns() int {
	n, err := strconv.Atoi(d.Header.Get(wire.HeaderReturns))
	if err != nil {
		return 0
	}
	return n
}

// giveBack stores a copy with a delivery count of zero. If the process dies before the original is removed, both are done and the
// ledger takes the first.
func (d *Delivery) giveBack(ctx context.Context) error {
	msg := nats.NewMsg(d.msg.Subject)
	msg.Data = d.Data
	for k, v := range d.Header {
		switch k {
		case wire.HeaderReturns, jetstream.MsgIDHeader, "Nats-Batch-Id", "Nats-Batch-Sequence", "Nats-Batch-Commit":
		default:
			msg.Header[k] = v
		}
	}
	msg.Header.Set(wire.HeaderReturns, strconv.Itoa(d.returns()+1))
	if meta, err := d.msg.Metadata(); err == nil {
		msg.Header.Set(jetstream.MsgIDHeader, fmt.Sprintf("back.%s.%d", d.Address.Work, meta.Sequence.Stream))
	}
	if _, err := d.queue.conn.publish(ctx, msg); err != nil {
		return err
	}
	return d.queue.conn.wake(d.Address.Work)
}

// acknowledge sends an acknowledgement and waits until the server has taken it.
func (c *Conn) acknowledge(ctx context.Context, msg *nats.Msg, what string) error {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	for try := 1; ; try++ {
		once, cancel := context.WithTimeout(ctx, pullTimeout)
		_, err := c.nc.RequestWithContext(once, msg.Reply, []byte(what))
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || errors.Is(err, nats.ErrConnectionClosed) || try == 3 {
			return classify(fmt.Errorf("acknowledge %s: %w", msg.Subject, err))
		}
	}
}

// term removes a message that cannot succeed.
func (c *Conn) term(ctx context.Context, msg *nats.Msg, reason string) error {
	if len(reason) > 200 {
		reason = reason[:200]
	}
	return c.acknowledge(ctx, msg, "+TERM "+reason)
}
