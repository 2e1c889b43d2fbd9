package bus

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/proofmill/proofmill/pkg/wire"
)

// Times and counts of the queues.
const (
	// CriticalAckWait is how long a critical message may go without a heartbeat before another worker gets it; AckWait is
	// that of the other classes. Workers beat at a third of it.
	CriticalAckWait = 3 * time.Second
	AckWait         = 15 * time.Second
	// MaxDeliver is how often a message is delivered before it is given up. Deliveries that end in Interrupted or WorkerGone do
	// not count.
	MaxDeliver = 5
	// ResultAge is how long results are kept.
	ResultAge = 24 * time.Hour
	// ObjectAge is how long objects are kept that nobody deleted.
	ObjectAge = 6 * time.Hour
	// DedupeWindow is how long a message id is remembered.
	DedupeWindow = 10 * time.Minute
	// FleetBeat is the interval at which workers refresh their entry, FleetAge when an entry is dropped.
	FleetBeat = 5 * time.Second
	FleetAge  = 3 * FleetBeat
	// maxAckPending bounds what all workers of one consumer have in hand.
	maxAckPending = 4096
)

// AckWaitOf is the time without heartbeats after which a message of the class is delivered again.
func AckWaitOf(p wire.Priority) time.Duration {
	if p == wire.Critical {
		return CriticalAckWait
	}
	return AckWait
}

// Setup creates or updates all streams, buckets and those consumers that do not depend on a circuit. Gateways call it at
// start; it may run in several processes at once and is idempotent.
func (c *Conn) Setup(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for _, cfg := range c.streams() {
		if _, err := c.js.CreateOrUpdateStream(ctx, cfg); err != nil {
			return classify(fmt.Errorf("stream %s: %w", cfg.Name, err))
		}
	}
	for _, cfg := range []jetstream.KeyValueConfig{
		{Bucket: c.names.BucketJobs(), History: 1, LimitMarkerTTL: markerAge, Storage: jetstream.FileStorage, Replicas: c.cfg.Replicas},
		{Bucket: c.names.BucketRequests(), History: 1, LimitMarkerTTL: markerAge, Storage: jetstream.FileStorage, Replicas: c.cfg.Replicas},
		{Bucket: c.names.BucketFleet(), History: 1, Storage: jetstream.MemoryStorage, TTL: FleetAge, Replicas: c.cfg.Replicas},
	} {
		if _, err := c.js.CreateOrUpdateKeyValue(ctx, cfg); err != nil {
			return classify(fmt.Errorf("bucket %s: %w", cfg.Bucket, err))
		}
	}
	for bucket, limit := range map[string]int64{c.names.BucketInputs(): c.cfg.InputLimitBytes, c.names.BucketBlobs(): c.cfg.BlobLimitBytes} {
		if limit == 0 {
			limit = -1
		}
		cfg := jetstream.ObjectStoreConfig{Bucket: bucket, TTL: ObjectAge, MaxBytes: limit, Storage: jetstream.FileStorage, Replicas: c.cfg.Replicas}
		if _, err := c.js.CreateOrUpdateObjectStore(ctx, cfg); err != nil {
			return classify(fmt.Errorf("object store %s: %w", bucket, err))
		}
	}
	for _, w := range []wire.Work{wire.WorkRequests, wire.WorkDone} {
		if err := c.ensureConsumers(ctx, w, nil); err != nil {
			return err
		}
	}
	return c.ensureDeadLetters(ctx)
}

func (c *Conn) streams() []jetstream.StreamConfig {
	base := func(name, subject string) jetstream.StreamConfig {
		return jetstream.StreamConfig{
			Name: name, Subjects: []string{subject}, Storage: jetstream.FileStorage, Replicas: c.cfg.Replicas,
			AllowDirect: true, Discard: jetstream.DiscardNew, Duplicates: DedupeWindow,
		}
	}
	var all []jetstream.StreamConfig
	for _, w := range wire.Works() {
		s := base(c.names.Stream(w), "")
		s.Subjects = c.names.WorkSubjects(w)
		s.Retention = jetstream.WorkQueuePolicy
		s.AllowAtomicPublish = true
		all = append(all, s)
	}
	results := base(c.names.StreamResults(), c.names.All("end"))
	results.MaxMsgsPerSubject = 1
	// A message reaches subscribers of its subject even when the stream refuses it; those who wait must hear only what counts.
	results.RePublish = &jetstream.RePublish{Source: c.names.All("end"), Destination: c.names.All("res")}
	results.MaxAge = ResultAge
	results.Discard = jetstream.DiscardOld
	progress := base(c.names.StreamProgress(), c.names.All("prog"))
	progress.Storage = jetstream.MemoryStorage
	progress.MaxMsgsPerSubject = 64
	progress.MaxAge = time.Hour
	progress.MaxBytes = 64 << 20
	progress.Discard = jetstream.DiscardOld
	dead := base(c.names.StreamDead(), c.names.All("dead"))
	dead.MaxAge = 7 * 24 * time.Hour
	dead.MaxBytes = 1 << 30
	dead.Discard = jetstream.DiscardOld
	advisories := base(c.names.StreamAdvisories(), "")
	advisories.Subjects = nil
	for _, w := range wire.Works() {
		advisories.Subjects = append(advisories.Subjects, "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES."+c.names.Stream(w)+".*")
	}
	advisories.Retention = jetstream.WorkQueuePolicy
	advisories.MaxAge = 24 * time.Hour
	advisories.MaxMsgs = 100_000
	advisories.Discard = jetstream.DiscardOld
	return append(all, results, progress, dead, advisories)
}

// EnsureCircuits creates the consumers of the synth and prove queues for some circuits. Gateways call it before they publish work
// for a circuit, workers before they pull; it is idempotent.
func (c *Conn) EnsureCircuits(ctx context.Context, circuits ...string) error {
	for _, w := range []wire.Work{wire.WorkSynth, wire.WorkProve} {
		if err := c.ensureConsumers(ctx, w, circuits); err != nil {
			return err
		}
	}
	return nil
}

func (c *Conn) ensureConsumers(ctx context.Context, w wire.Work, circuits []string) error {
	for _, l := range listing(w, circuits) {
		_, err := c.js.CreateOrUpdateConsumer(ctx, c.names.Stream(w), jetstream.ConsumerConfig{
			Durable:       c.names.Consumer(w, l.priority, l.lane, l.circuit),
			FilterSubject: c.names.WorkFilter(w, l.priority, l.lane, l.circuit),
			AckPolicy:     jetstream.AckExplicitPolicy,
			DeliverPolicy: jetstream.DeliverAllPolicy,
			AckWait:       AckWaitOf(l.priority),
			MaxDeliver:    MaxDeliver,
			MaxAckPending: maxAckPending,
			Replicas:      c.cfg.Replicas,
		})
		if err != nil {
			return classify(fmt.Errorf("consumer %s of stream %s: %w", c.names.Consumer(w, l.priority, l.lane, l.circuit), c.names.Stream(w), err))
		}
	}
	return nil
}

// slot is one consumer of a queue, in the order of service.
type slot struct {
	priority wire.Priority
	lane     wire.Lane
	circuit  string
}

// listing is the order in which a worker looks at a queue's consumers: by class, then by lane, then by the order of circuits, in
// which a prover puts those with a resident key first.
func listing(w wire.Work, circuits []string) []slot {
	var all []slot
	for _, p := range wire.Priorities() {
		if !w.PerCircuit() {
			all = append(all, slot{priority: p})
			continue
		}
		for _, lane := range wire.Lanes() {
			for _, circuit := range circuits {
				all = append(all, slot{priority: p, lane: lane, circuit: circuit})
			}
		}
	}
	return all
}
