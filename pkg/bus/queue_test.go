package bus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/proofmill/proofmill/pkg/wire"
)

func TestQueueOrder(t *testing.T) {
	c := connect(t, startServer(t), "worker")
	l := openLedger(t, c)
	q := newQueue(t, c, wire.WorkSynth)
	now := time.Now()
	// Published in this order; the numbers are the sectors.
	for _, j := range []struct {
		sector   uint64
		priority wire.Priority
		deadline time.Time
	}{
		{9, wire.Low, time.Time{}},
		{7, wire.Normal, time.Time{}},
		{8, wire.Normal, time.Time{}},
		{6, wire.Normal, now.Add(15 * time.Minute)},
		{5, wire.Normal, now.Add(time.Minute)},
		{4, wire.High, time.Time{}},
		{3, wire.High, now.Add(10 * time.Minute)},
		{2, wire.Critical, time.Time{}},
		{1, wire.Critical, now.Add(20 * time.Second)},
	} {
		if err := c.PublishSynth(t.Context(), admit(t, l, j.sector, j.priority, 1, j.deadline)); err != nil {
			t.Fatal(err)
		}
	}
	waitPending(t, c, c.names.Stream(wire.WorkSynth), 9)
	for want := uint64(1); want <= 9; want++ {
		d := next(t, q)
		job := new(wire.SynthJob)
		if err := wire.Decode(d.Data, job); err != nil {
			t.Fatal(err)
		}
		if job.Statement.Sector != want {
			t.Errorf("sector %d came where %d was due", job.Statement.Sector, want)
		}
		if err := d.Settle(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := depth(t, c, wire.WorkSynth); n != 0 {
		t.Errorf("%d messages are left", n)
	}
}

// TestQueueUrgentOvertakes publishes a critical job behind a hundred partitions of a normal one.
func TestQueueUrgentOvertakes(t *testing.T) {
	c := connect(t, startServer(t), "worker")
	l := openLedger(t, c)
	q := newQueue(t, c, wire.WorkSynth)
	if err := c.PublishSynth(t.Context(), admit(t, l, 1, wire.Normal, 100, time.Time{})); err != nil {
		t.Fatal(err)
	}
	first := next(t, q)
	if first.Address.Partition != 0 {
		t.Errorf("partition %d came first", first.Address.Partition)
	}
	if err := c.PublishSynth(t.Context(), admit(t, l, 2, wire.Critical, 1, time.Time{})); err != nil {
		t.Fatal(err)
	}
	if err := first.Settle(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	waitPending(t, c, c.names.Stream(wire.WorkSynth), 100)
	d := next(t, q)
	if d.Address.Priority != wire.Critical {
		t.Errorf("a %s message came before the critical one", d.Address.Priority)
	}
	if err := d.Settle(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

func TestPublishIsIdempotent(t *testing.T) {
	c := connect(t, startServer(t), "gateway")
	l := openLedger(t, c)
	jobs := admit(t, l, 1, wire.Normal, 10, time.Time{})
	for range 3 {
		if err := c.PublishSynth(t.Context(), jobs); err != nil {
			t.Fatal(err)
		}
	}
	// The largest jobs that there are still go in one batch.
	large := admit(t, l, 3, wire.Normal, 16, time.Time{})
	for _, j := range large {
		j.Inputs.List = []wire.Input{wire.InlineInput(make([]byte, wire.MaxInlineBytes))}
	}
	if err := c.PublishSynth(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	if n := depth(t, c, wire.WorkSynth); n != 26 {
		t.Errorf("%d messages are stored, want 26", n)
	}
	if err := c.DropWork(t.Context(), large[0].Task.JobKey); err != nil {
		t.Fatal(err)
	}
	// A batch of which a part is known must store the rest.
	more := admit(t, l, 2, wire.Normal, 4, time.Time{})
	for _, part := range [][]*wire.SynthJob{more[:2], more} {
		if err := c.PublishSynth(t.Context(), part); err != nil {
			t.Fatal(err)
		}
	}
	if n := depth(t, c, wire.WorkSynth); n != 14 {
		t.Errorf("%d messages are stored, want 14", n)
	}
	if found, err := l.HasWork(t.Context(), jobs[3].Task.JobKey, 3); err != nil || !found {
		t.Errorf("published work is not found: %v", err)
	}
	if err := c.DropWork(t.Context(), jobs[3].Task.JobKey); err != nil {
		t.Fatal(err)
	}
	if found, err := l.HasWork(t.Context(), jobs[3].Task.JobKey, 3); err != nil || found {
		t.Errorf("dropped work is found: %v", err)
	}
	if n := depth(t, c, wire.WorkSynth); n != 4 {
		t.Errorf("%d messages are left, want those of the other job", n)
	}
}

// TestRedeliveryAfterKill takes a critical message and dies without a word: another worker gets it after the AckWait, not before.
func TestRedeliveryAfterKill(t *testing.T) {
	s := startServer(t)
	c := connect(t, s, "survivor")
	l := openLedger(t, c)
	if err := c.PublishSynth(t.Context(), admit(t, l, 1, wire.Critical, 1, time.Time{})); err != nil {
		t.Fatal(err)
	}
	victim := connect(t, s, "victim")
	vq := newQueue(t, victim, wire.WorkSynth)
	held := next(t, vq)
	taken := time.Now()
	victim.Close() // no acknowledgement, no heartbeat any more
	d := next(t, newQueue(t, c, wire.WorkSynth))
	if waited := time.Since(taken); waited < CriticalAckWait-500*time.Millisecond {
		t.Errorf("redelivered after %s, before the AckWait", waited)
	}
	if d.Delivered != 2 || d.Address != held.Address {
		t.Errorf("delivery %d of %+v", d.Delivered, d.Address)
	}
	if err := d.Settle(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

// TestHeartbeatHolds keeps a critical message for longer than its AckWait.
func TestHeartbeatHolds(t *testing.T) {
	s := startServer(t)
	c := connect(t, s, "slow")
	l := openLedger(t, c)
	if err := c.PublishSynth(t.Context(), admit(t, l, 1, wire.Critical, 1, time.Time{})); err != nil {
		t.Fatal(err)
	}
	d := next(t, newQueue(t, c, wire.WorkSynth))
	other := newQueue(t, connect(t, s, "other"), wire.WorkSynth)
	ctx, cancel := context.WithTimeout(t.Context(), CriticalAckWait+CriticalAckWait/2)
	defer cancel()
	if got, err := other.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("another worker got %v, %v", got, err)
	}
	if err := d.Settle(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if n := depth(t, c, wire.WorkSynth); n != 0 {
		t.Errorf("%d messages are left", n)
	}
}

func TestOutcomes(t *testing.T) {
	boom := errors.New("boom")
	setup := func(t *testing.T) (*Conn, *Queue) {
		c := connect(t, startServer(t), "worker")
		if err := c.PublishSynth(t.Context(), admit(t, openLedger(t, c), 1, wire.Normal, 1, time.Time{})); err != nil {
			t.Fatal(err)
		}
		return c, newQueue(t, c, wire.WorkSynth)
	}
	// failure takes the partition's failure from the gateways' queue.
	failure := func(t *testing.T, c *Conn) *wire.PartitionProof {
		d := next(t, newQueue(t, c, wire.WorkDone))
		p := new(wire.PartitionProof)
		if err := wire.Decode(d.Data, p); err != nil {
			t.Fatal(err)
		}
		if err := d.Settle(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if p.Error == nil {
			t.Fatal("no error is told")
		}
		return p
	}
	t.Run("terminal", func(t *testing.T) {
		c, q := setup(t)
		d := next(t, q)
		if err := d.Settle(t.Context(), wire.Errorf(wire.CodeBadVanillaProof, "sector 1, challenge 2: %w", boom)); err != nil {
			t.Fatal(err)
		}
		if n := depth(t, c, wire.WorkSynth); n != 0 {
			t.Errorf("%d messages are left", n)
		}
		if p := failure(t, c); p.Error.Code != wire.CodeBadVanillaProof || p.Worker != "worker" {
			t.Errorf("the gateway is told %+v", p.Error)
		}
		dead, err := directLast(t.Context(), c.nc, c.api(), c.names.StreamDead(), c.names.Dead(wire.WorkSynth, d.Address.Key))
		if err != nil || dead == nil {
			t.Fatalf("no dead letter: %v", err)
		}
		if dead.Header.Get(wire.HeaderCode) != "1012" || dead.Header.Get(wire.HeaderSubject) == "" {
			t.Errorf("dead letter's headers: %v", dead.Header)
		}
	})
	t.Run("transient", func(t *testing.T) {
		c, q := setup(t)
		for i := 1; i <= MaxDeliver; i++ {
			d := next(t, q)
			if d.Delivered != i {
				t.Fatalf("delivery %d says %d", i, d.Delivered)
			}
			if err := d.Settle(t.Context(), Transient(boom, time.Millisecond)); err != nil {
				t.Fatal(err)
			}
		}
		if p := failure(t, c); p.Error.Code != wire.CodeAttemptsExhausted || p.Error.Class != wire.Terminal {
			t.Errorf("the gateway is told %+v", p.Error)
		}
		if n := depth(t, c, wire.WorkSynth); n != 0 {
			t.Errorf("%d messages are left", n)
		}
	})
	for name, give := range map[string]func(error) error{"interrupted": Interrupted, "worker gone": WorkerGone} {
		t.Run(name, func(t *testing.T) {
			c, q := setup(t)
			for i := range 3 * MaxDeliver {
				d := next(t, q)
				if d.Delivered != 1 || d.returns() != i {
					t.Fatalf("round %d: delivery %d, returned %d times", i, d.Delivered, d.returns())
				}
				if err := d.Settle(t.Context(), give(boom)); err != nil {
					t.Fatal(err)
				}
			}
			if n := depth(t, c, wire.WorkSynth); n != 1 {
				t.Errorf("%d messages are stored, want 1", n)
			}
		})
	}
	t.Run("classes", func(t *testing.T) {
		for err, want := range map[error]wire.Class{
			boom: wire.Transient, wire.Errorf(wire.CodeBadInput, "x"): wire.Terminal, fmt.Errorf("x: %w", wire.Errorf(wire.CodeDeviceLost, "x")): wire.WorkerGone,
			fmt.Errorf("x: %w", Terminal(boom)): wire.Terminal, Transient(wire.Errorf(wire.CodeBadInput, "x"), 0): wire.Transient,
		} {
			if got := outcomeOf(err).class; got != want {
				t.Errorf("%v is %s, want %s", err, got, want)
			}
			if e := outcomeOf(err).wireError(); e.Class != want {
				t.Errorf("%v travels as %s, want %s", err, e.Class, want)
			}
		}
	})
}

func TestWorkOfEndedJobIsDropped(t *testing.T) {
	c := connect(t, startServer(t), "worker")
	l := openLedger(t, c)
	q := newQueue(t, c, wire.WorkSynth)
	cancel := func(r *wire.JobRecord) error {
		r.State, r.Error = wire.JobCancelled, wire.Errorf(wire.CodeCancelled, "job %s: cancelled", r.ID.Short())
		return nil
	}
	ended := admit(t, l, 1, wire.High, 1, time.Time{})
	live := admit(t, l, 2, wire.Normal, 1, time.Time{})
	stale := admit(t, l, 3, wire.High, 1, time.Time{})
	for _, jobs := range [][]*wire.SynthJob{ended, live, stale} {
		if err := c.PublishSynth(t.Context(), jobs); err != nil {
			t.Fatal(err)
		}
	}
	waitPending(t, c, c.names.Stream(wire.WorkSynth), 3)
	if _, err := l.Update(t.Context(), ended[0].Task.JobKey, cancel); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Update(t.Context(), stale[0].Task.JobKey, func(r *wire.JobRecord) error {
		r.Partitions[0].Attempt = 2
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	d := next(t, q)
	if d.Address.Key != live[0].Task.JobKey {
		t.Fatalf("got job %s", d.Address.Key)
	}
	if n := depth(t, c, wire.WorkSynth); n != 1 {
		t.Errorf("%d messages are stored, want the one in hand", n)
	}
	// A stop while the work is in hand ends its context and lets go of the message whatever the worker says.
	if err := c.Stop(d.Address.Key); err != nil {
		t.Fatal(err)
	}
	<-d.Context().Done()
	if !errors.Is(context.Cause(d.Context()), ErrStopped) {
		t.Errorf("cause is %v", context.Cause(d.Context()))
	}
	if err := d.Settle(t.Context(), context.Cause(d.Context())); err != nil {
		t.Fatal(err)
	}
	if n := depth(t, c, wire.WorkSynth) + depth(t, c, wire.WorkDone); n != 0 {
		t.Errorf("%d messages are left", n)
	}
}

func TestExpiredWorkIsAnswered(t *testing.T) {
	c := connect(t, startServer(t), "worker")
	l := openLedger(t, c)
	q := newQueue(t, c, wire.WorkSynth)
	if err := c.PublishSynth(t.Context(), admit(t, l, 1, wire.High, 1, time.Now().Add(-time.Second))); err != nil {
		t.Fatal(err)
	}
	if err := c.PublishSynth(t.Context(), admit(t, l, 2, wire.Normal, 1, time.Time{})); err != nil {
		t.Fatal(err)
	}
	waitPending(t, c, c.names.Stream(wire.WorkSynth), 2)
	if d := next(t, q); d.Address.Priority != wire.Normal {
		t.Error("expired work was handed out")
	}
	d := next(t, newQueue(t, c, wire.WorkDone))
	p := new(wire.PartitionProof)
	if err := wire.Decode(d.Data, p); err != nil || p.Error == nil || p.Error.Code != wire.CodeExpired {
		t.Errorf("got %+v, %v", p, err)
	}
	if err := d.Settle(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

// TestDeadLetters exhausts a message's deliveries without settling it, as crashing workers do.
func TestDeadLetters(t *testing.T) {
	exhaust := func(t *testing.T, c *Conn) wire.JobKey {
		jobs := admit(t, openLedger(t, c), 1, wire.Normal, 1, time.Time{})
		if err := c.PublishSynth(t.Context(), jobs); err != nil {
			t.Fatal(err)
		}
		waitPending(t, c, c.names.Stream(wire.WorkSynth), 1)
		p, err := newPuller(c)
		if err != nil {
			t.Fatal(err)
		}
		defer p.close()
		// The consumer's name and filter as in Setup, through the same pull that workers use.
		name := c.names.Consumer(wire.WorkSynth, wire.Normal, wire.LaneLater, circuit)
		for i := range MaxDeliver {
			msg, err := p.pull(t.Context(), c.names.Stream(wire.WorkSynth), name)
			if err != nil || msg == nil {
				t.Fatalf("pull %d: %v, %v", i, msg, err)
			}
			if err := c.acknowledge(t.Context(), msg, "-NAK"); err != nil {
				t.Fatal(err)
			}
		}
		// The next pull is when the server notices that the message may not be delivered again.
		if msg, err := p.pull(t.Context(), c.names.Stream(wire.WorkSynth), name); err != nil || msg != nil {
			t.Fatalf("delivered once more: %v, %v", msg, err)
		}
		if n := depth(t, c, wire.WorkSynth); n != 1 {
			t.Fatalf("%d messages are stored, want the stuck one", n)
		}
		waitPending(t, c, c.names.StreamAdvisories(), 1) // the server's report is under way
		return jobs[0].Task.JobKey
	}
	check := func(t *testing.T, c *Conn, key wire.JobKey) {
		t.Helper()
		if n := depth(t, c, wire.WorkSynth); n != 0 {
			t.Errorf("%d messages are left", n)
		}
		dead, err := directLast(t.Context(), c.nc, c.api(), c.names.StreamDead(), c.names.Dead(wire.WorkSynth, key))
		if err != nil || dead == nil {
			t.Fatalf("no dead letter: %v", err)
		}
		d := next(t, newQueue(t, c, wire.WorkDone))
		p := new(wire.PartitionProof)
		if err := wire.Decode(d.Data, p); err != nil || p.Error == nil || p.Error.Code != wire.CodeAttemptsExhausted {
			t.Errorf("got %+v, %v", p, err)
		}
		if err := d.Settle(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("advisory", func(t *testing.T) {
		c := connect(t, startServer(t), "gateway")
		key := exhaust(t, c)
		if err := c.BuryReported(t.Context()); err != nil {
			t.Fatal(err)
		}
		check(t, c, key)
	})
	t.Run("sweep", func(t *testing.T) {
		c := connect(t, startServer(t), "gateway")
		key := exhaust(t, c)
		// The advisory is lost.
		s, err := c.js.Stream(t.Context(), c.names.StreamAdvisories())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n, err := c.SweepDead(t.Context()); err != nil || n != 1 {
			t.Fatalf("buried %d: %v", n, err)
		}
		check(t, c, key)
	})
	t.Run("beside what is no report", func(t *testing.T) {
		c := connect(t, startServer(t), "gateway")
		key := exhaust(t, c)
		// What cannot be followed is left out, and does not come back.
		for _, report := range []string{"", "null", "{}", `{"stream":"x","stream_seq":1}`, `{"stream":"PM_SYNTH","stream_seq":999}`} {
			if err := c.nc.Publish("$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.PM_SYNTH.x", []byte(report)); err != nil {
				t.Fatal(err)
			}
		}
		waitPending(t, c, c.names.StreamAdvisories(), 6)
		if err := c.BuryReported(t.Context()); err != nil {
			t.Fatal(err)
		}
		check(t, c, key)
		waitPending(t, c, c.names.StreamAdvisories(), 0)
	})
	t.Run("sweep spares the living", func(t *testing.T) {
		c := connect(t, startServer(t), "gateway")
		l := openLedger(t, c)
		if err := c.PublishSynth(t.Context(), admit(t, l, 1, wire.Normal, 2, time.Time{})); err != nil {
			t.Fatal(err)
		}
		d := next(t, newQueue(t, c, wire.WorkSynth))
		if n, err := c.SweepDead(t.Context()); err != nil || n != 0 {
			t.Errorf("buried %d: %v", n, err)
		}
		if err := d.Settle(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRunStopsPullingWhenWorkerIsGone(t *testing.T) {
	c := connect(t, startServer(t), "worker")
	l := openLedger(t, c)
	q := newQueue(t, c, wire.WorkSynth)
	if err := c.PublishSynth(t.Context(), admit(t, l, 1, wire.Normal, 3, time.Time{})); err != nil {
		t.Fatal(err)
	}
	var seen []uint32
	err := q.Run(t.Context(), func(_ context.Context, d *Delivery) error {
		seen = append(seen, d.Address.Partition)
		if len(seen) == 2 {
			return wire.Errorf(wire.CodeDeviceLost, "gpu 0: gone")
		}
		return nil
	})
	if !errors.Is(err, wire.CodeDeviceLost) || !slices.Equal(seen, []uint32{0, 1}) {
		t.Errorf("Run gave %v after partitions %v", err, seen)
	}
	if n := depth(t, c, wire.WorkSynth); n != 2 {
		t.Errorf("%d messages are stored, want 2", n)
	}
}

// TestSetupAgain checks that a second gateway, or a newer one, can set up what is there.
func TestSetupAgain(t *testing.T) {
	c := connect(t, startServer(t), "gateway")
	if err := c.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.EnsureCircuits(t.Context(), circuit, "porep-2k"); err != nil {
		t.Fatal(err)
	}
	info, err := c.js.Consumer(t.Context(), c.names.Stream(wire.WorkProve), c.names.Consumer(wire.WorkProve, wire.Critical, wire.LaneNow, "porep-2k"))
	if err != nil {
		t.Fatal(err)
	}
	if got := info.CachedInfo().Config; got.AckWait != CriticalAckWait || got.MaxDeliver != MaxDeliver || got.AckPolicy != jetstream.AckExplicitPolicy {
		t.Errorf("consumer's configuration: %+v", got)
	}
}

// A queue takes no message that none of its consumers could read, and drops one that says of no job.
func TestQueuesTakeOnlyWhatIsRead(t *testing.T) {
	c := connect(t, startServer(t), "gateway")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, subject := range []string{
		"pm.req", "pm.req.high", "pm.req.bogus.main.x", "pm.req.high.main", "pm.req.high.main.x.y", "pm.done.bogus.main.x.0", "pm.done.high.main.x",
		"pm.synth.high.bogus.winning-2k.main.x.0", "pm.prove.bogus.now.winning-2k.main.x.0", "pm.prove.high.now.winning-2k.main.x",
	} {
		if _, err := c.js.Publish(ctx, subject, nil, jetstream.WithRetryAttempts(0)); !errors.Is(err, jetstream.ErrNoStreamResponse) {
			t.Errorf("%s: %v", subject, err)
		}
	}
	for _, w := range wire.Works() {
		address := map[wire.Work]string{wire.WorkRequests: "high.main.x", wire.WorkDone: "high.main.x.0"}[w]
		if w.PerCircuit() {
			address = "high.now." + circuit + ".main.x.0"
		}
		ack, err := c.js.Publish(ctx, "pm."+string(w)+"."+address, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.buryStored(ctx, ack.Stream, ack.Sequence, MaxDeliver); err != nil {
			t.Errorf("queue %s: %v", w, err)
		}
		if n := depth(t, c, w); n != 0 {
			t.Errorf("queue %s: %d messages are left", w, n)
		}
	}
}
