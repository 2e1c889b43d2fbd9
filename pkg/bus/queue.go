package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/proofmill/proofmill/pkg/wire"
)

// How often an idle worker looks by itself, beside being woken: work that comes back after a worker's death wakes nobody.
const (
	criticalPoll = 250 * time.Millisecond
	fullPoll     = 2 * time.Second
	pullTimeout  = 5 * time.Second
	// A stored message is known to its consumer a little later, so a worker that was woken and finds nothing looks again soon.
	eagerPoll  = 10 * time.Millisecond
	eagerLooks = 4
)

// ErrStopped is the cause of a delivery's context ending because its job has ended: cancelled, expired, failed, or completed by
// another attempt. The worker drops the work; Settle then removes the message whatever the worker says.
var ErrStopped = errors.New("the job has ended")

// ErrQueueClosed is returned by Next after Close.
var ErrQueueClosed = errors.New("the queue is closed")

// QueueConfig describes what a worker pulls.
type QueueConfig struct {
	Work wire.Work
	// Circuits that the worker serves, the preferred ones first; only for the synth and prove queues.
	Circuits []string
}

// Queue gives a worker one message at a time in the order of class and deadline. It is used by any number of goroutines, each of
// which holds what it has in hand.
type Queue struct {
	conn   *Conn
	cfg    QueueConfig
	ledger *Ledger // nil for queues whose messages do not depend on a job's state
	work   context.Context
	stop   context.CancelCauseFunc
	subs   []*nats.Subscription
	beats  sync.WaitGroup // heartbeat goroutines

	mu     sync.Mutex // guards what follows; nothing blocks while it is held
	slots  []slot
	woken  chan struct{} // closed and replaced at each wake-up
	hands  map[*Delivery]struct{}
	closed bool
}

// NewQueue subscribes to wake-ups and stops, and creates the queue's consumers if they are absent. The context is that of the
// work, not of the call: when it ends, the contexts of all deliveries end. Draining is done by ending the context of Next first.
func (c *Conn) NewQueue(ctx context.Context, cfg QueueConfig) (*Queue, error) {
	if err := c.ensureConsumers(ctx, cfg.Work, cfg.Circuits); err != nil {
		return nil, err
	}
	q := &Queue{conn: c, cfg: cfg, slots: listing(cfg.Work, cfg.Circuits), woken: make(chan struct{}), hands: make(map[*Delivery]struct{})}
	q.work, q.stop = context.WithCancelCause(ctx)
	if cfg.Work.PerCircuit() {
		var err error
		if q.ledger, err = c.OpenLedger(ctx); err != nil {
			return nil, err
		}
		if err := q.subscribe(c.names.All("stop"), q.onStop); err != nil {
			return nil, err
		}
	}
	if err := q.subscribe(c.names.Wake(cfg.Work), func(*nats.Msg) { q.wakeAll() }); err != nil {
		q.Close()
		return nil, err
	}
	return q, nil
}

func (q *Queue) subscribe(subject string, handle nats.MsgHandler) error {
	sub, err := q.conn.nc.Subscribe(subject, handle)
	if err != nil {
		return classify(fmt.Errorf("subscribe %s: %w", subject, err))
	}
	q.subs = append(q.subs, sub)
	return nil
}

// SetCircuits changes the order of preference, and which circuits are served, from the next pull on.
func (q *Queue) SetCircuits(ctx context.Context, circuits []string) error {
	if err := q.conn.ensureConsumers(ctx, q.cfg.Work, circuits); err != nil {
		return err
	}
	q.mu.Lock()
	q.slots = listing(q.cfg.Work, circuits)
	q.mu.Unlock()
	q.wakeAll()
	return nil
}

// Close ends the subscriptions and the heartbeats. What is still in hand is delivered again to others after its AckWait, so
// settle first.
func (q *Queue) Close() {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return
	}
	q.closed = true
	q.mu.Unlock()
	for _, sub := range q.subs {
		_ = sub.Unsubscribe() // fails only on a closed connection, where nothing is subscribed
	}
	q.stop(ErrQueueClosed)
	q.wakeAll()
	q.beats.Wait()
}

func (q *Queue) wakeAll() {
	q.mu.Lock()
	close(q.woken)
	q.woken = make(chan struct{})
	q.mu.Unlock()
}

func (q *Queue) onStop(msg *nats.Msg) {
	key, err := q.conn.names.ParseKey(msg.Subject)
	if err != nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for d := range q.hands {
		if d.Address.Key == key {
			d.cancel(ErrStopped)
		}
	}
}

// Next waits for the most urgent message and takes it: CRITICAL before HIGH before NORMAL before LOW, and inside a class the lane
// of the nearest deadlines first. Messages whose job has ended are dropped on the way; those whose deadline has passed are
// answered as expired. Next blocks until there is work, ctx ends, or the queue is closed; it waits out a lost connection.
// The caller must Settle what it gets.
func (q *Queue) Next(ctx context.Context) (*Delivery, error) {
	last, eager := time.Time{}, 0
	for {
		q.mu.Lock()
		slots, woken, closed := q.slots, q.woken, q.closed
		q.mu.Unlock()
		if closed {
			return nil, ErrQueueClosed
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		full := eager > 0 || time.Since(last) >= fullPoll
		if full {
			last = time.Now()
		}
		d, err := q.look(ctx, slots, full)
		if err != nil && ctx.Err() == nil {
			q.conn.log.Warn("queue: pull failed, it is tried again", "work", string(q.cfg.Work), "err", err)
		}
		if d != nil {
			return d, nil
		}
		wait := criticalPoll
		if eager > 0 {
			eager--
			wait = eagerPoll << (eagerLooks - eager - 1)
		}
		timer := time.NewTimer(wait)
		select {
		case <-woken:
			last, eager = time.Time{}, eagerLooks
		case <-timer.C:
		case <-ctx.Done():
		case <-q.work.Done():
			timer.Stop()
			return nil, context.Cause(q.work)
		}
		timer.Stop()
	}
}

// look asks the consumers in order for one message that is worth doing.
func (q *Queue) look(ctx context.Context, slots []slot, full bool) (*Delivery, error) {
	p, err := newPuller(q.conn)
	if err != nil {
		return nil, err
	}
	defer p.close()
	for _, s := range slots {
		if !full && s.priority != wire.Critical {
			break
		}
		consumer := q.conn.names.Consumer(q.cfg.Work, s.priority, s.lane, s.circuit)
		for {
			msg, err := p.pull(ctx, q.conn.names.Stream(q.cfg.Work), consumer)
			if err != nil {
				return nil, fmt.Errorf("consumer %s: %w", consumer, err)
			}
			if msg == nil {
				break
			}
			d, err := q.take(ctx, msg)
			if d != nil || err != nil {
				return d, err
			}
		}
	}
	return nil, nil
}

// take makes a delivery of a message and starts its heartbeat; nil if the message was not worth doing and is gone.
func (q *Queue) take(ctx context.Context, msg *nats.Msg) (*Delivery, error) {
	d, err := newDelivery(q, msg)
	if err != nil {
		// Not a message of this protocol: nobody can do it.
		q.conn.log.Error("queue: message dropped", "subject", msg.Subject, "err", err)
		return nil, q.conn.term(ctx, msg, err.Error())
	}
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return nil, ErrQueueClosed
	}
	q.hands[d] = struct{}{}
	q.beats.Add(1)
	q.mu.Unlock()
	go d.beat()
	if q.ledger == nil {
		return d, nil
	}
	// The delivery is in hand before the ledger is read: a stop that comes in between is seen by one of the two.
	switch verdict, err := d.judge(ctx); {
	case err != nil:
		return nil, errors.Join(err, d.Settle(ctx, Interrupted(err)))
	case verdict == drop:
		d.cancel(ErrStopped)
		return nil, d.Settle(ctx, nil)
	case verdict == late:
		return nil, d.Settle(ctx, Terminal(wire.Errorf(wire.CodeExpired, "job %s, partition %d: the deadline %s passed before it was begun",
			d.Address.Key.ID.Short(), d.Address.Partition, d.Deadline().Time().UTC().Format(time.RFC3339))))
	}
	return d, nil
}

func (q *Queue) forget(d *Delivery) {
	q.mu.Lock()
	delete(q.hands, d)
	q.mu.Unlock()
}

// InHand lists the jobs of the deliveries that are not settled.
func (q *Queue) InHand() []wire.JobID {
	q.mu.Lock()
	defer q.mu.Unlock()
	ids := make([]wire.JobID, 0, len(q.hands))
	for d := range q.hands {
		ids = append(ids, d.Address.Key.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Run takes and settles messages one after another until ctx ends, which is no error, or the worker says that it is gone or
// interrupted, which Run returns. The handler gets the delivery's context; its error is settled as by Settle. For several slots
// call Run in several goroutines.
func (q *Queue) Run(ctx context.Context, handle func(ctx context.Context, d *Delivery) error) error {
	for {
		d, err := q.Next(ctx)
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, ErrQueueClosed) {
				return nil //nolint:nilerr // the end that the caller asked for
			}
			return err
		}
		err = handle(d.Context(), d)
		stopped := errors.Is(context.Cause(d.Context()), ErrStopped)
		// The message must be settled even when the work's context has ended.
		settle, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishTimeout)
		if serr := d.Settle(settle, err); serr != nil {
			q.conn.log.Warn("queue: message not settled, it will be delivered again", "job", d.Address.Key.ID.Short(), "err", serr)
		}
		cancel()
		if err != nil && !stopped && ctx.Err() == nil && outcomeOf(err).class == wire.WorkerGone {
			return err
		}
	}
}

// puller asks consumers for single messages. It has an inbox of its own outside those of requests: JetStream delivers under the
// message's subject, which the subscription shared by requests would take for the answer to another one.
type puller struct {
	conn  *Conn
	inbox string
	sub   *nats.Subscription
}

var pullBody = mustJSON(map[string]any{"batch": 1, "no_wait": true})

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func newPuller(c *Conn) (*puller, error) {
	inbox := c.nc.NewInbox()
	sub, err := c.nc.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	return &puller{conn: c, inbox: inbox, sub: sub}, nil
}

func (p *puller) close() { _ = p.sub.Unsubscribe() } // fails only on a closed connection, where nothing is subscribed

// pull takes one message if the consumer has one now, else nil.
func (p *puller) pull(ctx context.Context, stream, consumer string) (*nats.Msg, error) {
	if err := p.conn.nc.PublishRequest(p.conn.api()+"CONSUMER.MSG.NEXT."+stream+"."+consumer, p.inbox, pullBody); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, pullTimeout)
	defer cancel()
	msg, err := p.sub.NextMsgWithContext(ctx)
	if err != nil {
		return nil, err
	}
	switch status := msg.Header.Get("Status"); status {
	case "":
		return msg, nil
	case "404", "408":
		return nil, nil
	case "409": // as many as allowed are in hand, or the consumer was just updated
		return nil, nil
	default:
		return nil, fmt.Errorf("status %s %s", status, msg.Header.Get("Description"))
	}
}
