package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/proofmill/proofmill/pkg/wire"
)

// sweepInterval is how often messages are looked for that were given up while nobody listened to the server's advisories.
const sweepInterval = 30 * time.Second

// advisoryConsumer is the durable consumer of the advisories, shared by all gateways.
const advisoryConsumer = "dead"

// letter is a message that is given up.
type letter struct {
	subject   string
	header    nats.Header
	data      []byte
	delivered int
	reason    *wire.Error
}

// bury keeps a copy of a message under its dead letter subject and says what follows: for the work of a partition it tells the gateways
// that this attempt failed, for a request it stores the failed result.
func (c *Conn) bury(ctx context.Context, l *letter) error {
	address, err := c.names.ParseWork(l.subject)
	if err != nil {
		return err
	}
	msg := nats.NewMsg(c.names.Dead(address.Work, address.Key))
	msg.Data = l.data
	for k, v := range l.header {
		if k != jetstream.MsgIDHeader && (len(k) < 5 || k[:5] != "Nats-") {
			msg.Header[k] = v
		}
	}
	msg.Header.Set(wire.HeaderSubject, l.subject)
	msg.Header.Set(wire.HeaderDelivered, strconv.Itoa(l.delivered))
	msg.Header.Set(wire.HeaderCode, strconv.Itoa(int(l.reason.Code)))
	msg.Header.Set(wire.HeaderReason, headerText(l.reason.Message))
	if id := l.header.Get(jetstream.MsgIDHeader); id != "" {
		msg.Header.Set(jetstream.MsgIDHeader, "dead."+id)
	}
	if _, err := c.publish(ctx, msg); err != nil {
		return fmt.Errorf("dead letter: %w", err)
	}
	if address.Work == wire.WorkRequests {
		return c.endUnread(ctx, address.Key, l)
	}
	if !address.Work.PerCircuit() {
		return nil
	}
	task, err := taskOf(address.Work, l.data)
	if err != nil {
		c.log.Error("dead letter without a task", "subject", l.subject, "err", err)
		return nil
	}
	return c.PublishDone(wire.Extract(ctx, l.header), &wire.PartitionProof{Task: *task, Error: l.reason, Worker: c.cfg.Name})
}

// endUnread stores the failed result of a request that no gateway could take, unless it became a job after all: then the reconciler
// moves that on.
func (c *Conn) endUnread(ctx context.Context, key wire.JobKey, l *letter) error {
	ledger, err := c.OpenLedger(ctx)
	if err != nil {
		return err
	}
	run := runOf(l.header)
	record, _, err := ledger.Get(ctx, key)
	if err == nil && record.Run >= run {
		return nil
	}
	if err != nil && !errors.Is(err, wire.CodeNoSuchJob) {
		return err
	}
	now := wire.MillisOf(time.Now())
	_, _, err = c.PublishResult(ctx, &wire.Result{JobKey: key, Run: run, Status: wire.Failed, Error: l.reason, Submitted: now, Finished: now})
	return err
}

// headerText makes one line of a text, as headers end at line breaks.
func headerText(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c < ' ' || c == 0x7f {
			b[i] = ' '
		}
	}
	return string(b)
}

func (c *Conn) ensureDeadLetters(ctx context.Context) error {
	_, err := c.js.CreateOrUpdateConsumer(ctx, c.names.StreamAdvisories(), jetstream.ConsumerConfig{
		Durable: advisoryConsumer, AckPolicy: jetstream.AckExplicitPolicy, AckWait: AckWait, MaxDeliver: -1, Replicas: c.cfg.Replicas,
	})
	if err != nil {
		return classify(fmt.Errorf("consumer %s: %w", advisoryConsumer, err))
	}
	return nil
}

// RunDeadLetters buries the messages that were delivered as often as they may without being settled, as after crashes: those that
// the server reports, and those that a sweep finds, as reports may be lost. It blocks until ctx ends; each gateway runs one.
func (c *Conn) RunDeadLetters(ctx context.Context) error {
	ticker := time.NewTicker(fullPoll)
	defer ticker.Stop()
	swept := time.Now()
	for {
		if err := c.BuryReported(ctx); err != nil && ctx.Err() == nil {
			c.log.Warn("dead letters: tried again", "err", err)
		}
		if time.Since(swept) >= sweepInterval {
			swept = time.Now()
			if _, err := c.SweepDead(ctx); err != nil && ctx.Err() == nil {
				c.log.Warn("dead letters: sweep failed, tried again", "err", err)
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// BuryReported handles the advisories that are there and returns.
func (c *Conn) BuryReported(ctx context.Context) error {
	p, err := newPuller(c)
	if err != nil {
		return err
	}
	defer p.close()
	for {
		msg, err := p.pull(ctx, c.names.StreamAdvisories(), advisoryConsumer)
		if err != nil || msg == nil {
			return err
		}
		var advisory struct {
			Stream   string `json:"stream"`
			Sequence uint64 `json:"stream_seq"`
			Count    int    `json:"deliveries"`
		}
		if err := json.Unmarshal(msg.Data, &advisory); err != nil {
			c.log.Error("dead letters: advisory not read", "err", err)
		} else if !c.hasQueue(advisory.Stream) {
			c.log.Error("dead letters: advisory about no queue of this fleet", "stream", advisory.Stream)
		} else if err := c.buryStored(ctx, advisory.Stream, advisory.Sequence, advisory.Count); err != nil {
			return errors.Join(err, c.acknowledge(ctx, msg, `-NAK {"delay": 1000000000}`))
		}
		if err := c.acknowledge(ctx, msg, "+ACK"); err != nil {
			return err
		}
	}
}

func (c *Conn) hasQueue(stream string) bool {
	return slices.ContainsFunc(wire.Works(), func(w wire.Work) bool { return c.names.Stream(w) == stream })
}

// buryStored moves a message from its stream to the dead letters. A message that is gone was settled after all.
func (c *Conn) buryStored(ctx context.Context, name string, seq uint64, delivered int) error {
	stream, err := c.js.Stream(ctx, name)
	if err != nil {
		return classify(err)
	}
	raw, err := stream.GetMsg(ctx, seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	if err != nil {
		return classify(err)
	}
	reason := wire.Errorf(wire.CodeAttemptsExhausted, "delivered %d times without being settled: its workers died or hung", delivered)
	if _, err := c.names.ParseWork(raw.Subject); err != nil {
		// Not a message of this protocol: there is nobody to tell.
		c.log.Error("dead letters: message dropped", "subject", raw.Subject, "err", err)
	} else if err := c.bury(ctx, &letter{subject: raw.Subject, header: raw.Header, data: raw.Data, delivered: delivered, reason: reason}); err != nil {
		return err
	}
	if err := stream.DeleteMsg(ctx, seq); err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
		return classify(fmt.Errorf("dead letter %s: %w", raw.Subject, err))
	}
	return nil
}

// SweepDead finds messages that lie in a queue though their consumer has nothing to deliver and nothing in hand, buries them, and
// returns how many.
func (c *Conn) SweepDead(ctx context.Context) (int, error) {
	buried, failed := 0, error(nil)
	for _, w := range wire.Works() {
		stream, err := c.js.Stream(ctx, c.names.Stream(w))
		if err != nil {
			return buried, classify(err)
		}
		consumers := stream.ListConsumers(ctx)
		for info := range consumers.Info() {
			n, err := c.sweepConsumer(ctx, w, stream, info)
			buried += n
			failed = errors.Join(failed, err) // one message that cannot be buried does not keep the others
		}
		if err := consumers.Err(); err != nil {
			return buried, classify(err)
		}
	}
	return buried, failed
}

func (c *Conn) sweepConsumer(ctx context.Context, w wire.Work, stream jetstream.Stream, info *jetstream.ConsumerInfo) (buried int, err error) {
	if info.NumPending > 0 || info.NumAckPending > 0 || info.Config.FilterSubject == "" {
		return 0, nil
	}
	for {
		raw, err := stream.GetMsg(ctx, 0, jetstream.WithGetMsgSubject(info.Config.FilterSubject))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return buried, nil
		}
		if err != nil {
			return buried, classify(err)
		}
		if raw.Sequence > info.Delivered.Stream {
			return buried, nil // published since
		}
		if err := c.buryStored(ctx, c.names.Stream(w), raw.Sequence, MaxDeliver); err != nil {
			return buried, err
		}
		buried++
	}
}
