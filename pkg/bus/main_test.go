package bus

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/proofmill/proofmill/pkg/bus/embedded"
	"github.com/proofmill/proofmill/pkg/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testLog passes log lines to the test.
type testLog struct{ t testing.TB }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Log(string(bytes.TrimSpace(p)))
	return len(p), nil
}

const circuit = "winning-2k"

// startServer runs a server for the test, with its state in the test's directory.
func startServer(t testing.TB) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(t.Context(), embedded.Config{StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Shutdown)
	return s
}

// connect makes a connection of a named process to the server, with all streams set up.
func connect(t testing.TB, s *embedded.Server, name string) *Conn {
	t.Helper()
	c, err := Connect(t.Context(), Config{Name: name, Options: []nats.Option{s.Option()}, Log: slog.New(slog.NewTextHandler(testLog{t}, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := c.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.EnsureCircuits(t.Context(), circuit); err != nil {
		t.Fatal(err)
	}
	return c
}

func openLedger(t testing.TB, c *Conn) *Ledger {
	t.Helper()
	l, err := c.OpenLedger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// sample is a request that differs by its sector, with its record of some partitions.
func sample(sector uint64, priority wire.Priority, partitions int) (*wire.Request, *wire.JobRecord) {
	r := &wire.Request{
		Account: "main", Label: fmt.Sprintf("sector-%d", sector), Priority: priority, Run: 1,
		Statement: wire.Statement{Kind: wire.KindWinningPoSt, SectorSize: 2048, Miner: 1000, Sector: sector, Randomness: wire.SumOf([]byte("beacon"))},
		Inputs:    wire.Inputs{List: []wire.Input{wire.InlineInput([]byte("vanilla"))}},
	}
	record := &wire.JobRecord{
		JobKey: r.Key(), Run: 1, Statement: r.Statement, Circuit: circuit, Label: r.Label, Priority: priority, State: wire.JobQueued,
		Submitted: wire.MillisOf(time.Now()),
	}
	for range partitions {
		record.Partitions = append(record.Partitions, wire.PartitionRecord{State: wire.PartitionQueued, Attempt: 1})
	}
	return r, record
}

// admit writes a sample job into the ledger and returns its synth jobs.
func admit(t testing.TB, l *Ledger, sector uint64, priority wire.Priority, partitions int, deadline time.Time) []*wire.SynthJob {
	t.Helper()
	r, record := sample(sector, priority, partitions)
	r.Deadline, record.Deadline = wire.MillisOf(deadline), wire.MillisOf(deadline)
	if _, admitted, err := l.Admit(t.Context(), r, record); err != nil || !admitted {
		t.Fatalf("admitted %t: %v", admitted, err)
	}
	var jobs []*wire.SynthJob
	for i := range partitions {
		jobs = append(jobs, &wire.SynthJob{
			Task: wire.Task{
				JobKey: record.JobKey, Run: 1, Kind: record.Statement.Kind, Circuit: circuit, Partition: uint32(i), Partitions: uint32(partitions),
				Attempt: 1, Priority: priority, Deadline: record.Deadline,
			},
			Statement: r.Statement, Inputs: r.Inputs,
		})
	}
	return jobs
}

func newQueue(t testing.TB, c *Conn, w wire.Work) *Queue {
	t.Helper()
	q, err := c.NewQueue(context.WithoutCancel(t.Context()), QueueConfig{Work: w, Circuits: []string{circuit}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return q
}

// next takes a message, within a time that no healthy run needs.
func next(t testing.TB, q *Queue) *Delivery {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	d, err := q.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// depth counts the messages that a queue's stream holds.
func depth(t testing.TB, c *Conn, w wire.Work) uint64 {
	t.Helper()
	s, err := c.js.Stream(t.Context(), c.names.Stream(w))
	if err != nil {
		t.Fatal(err)
	}
	return s.CachedInfo().State.Msgs
}

// waitPending waits until the consumers of a stream know of n messages that they have not delivered: a message is stored, and its
// publisher told, before they know, and until then a pull that does not wait finds nothing.
func waitPending(t testing.TB, c *Conn, name string, n uint64) {
	t.Helper()
	for {
		stream, err := c.js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		consumers, seen := stream.ListConsumers(t.Context()), uint64(0)
		for info := range consumers.Info() {
			seen += info.NumPending
		}
		if err := consumers.Err(); err != nil {
			t.Fatal(err)
		}
		if seen == n {
			return
		}
	}
}
