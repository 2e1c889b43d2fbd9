package gateway

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/bus/embedded"
	"github.com/proofmill/proofmill/pkg/bus/objects"
	"github.com/proofmill/proofmill/pkg/wire"
)

// idle is a gateway that only does what the test calls.
func idle(t *testing.T) *Service {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Shutdown)
	conn, err := bus.Connect(t.Context(), bus.Config{Name: "gateway-1", Options: []nats.Option{server.Option()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	s, err := New(Options{Host: HostOptions{Conn: conn, Log: slog.New(slog.DiscardHandler)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.ledger, err = conn.OpenLedger(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// left is a job as a gateway left it that died right after it had been admitted.
func left(t *testing.T, s *Service, deadline wire.Millis) *wire.JobRecord {
	t.Helper()
	data := []byte("a vanilla proof")
	ref, err := s.conn.Inputs().Put(t.Context(), objects.NewName("in"), bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	r := &wire.Request{
		Account: "main", Statement: wire.Statement{Kind: wire.KindWinningPoSt, Miner: 1}, Priority: wire.Normal, Run: 1, Deadline: deadline,
		Inputs: wire.Inputs{List: []wire.Input{{Object: 1, Size: ref.Size, SHA256: ref.SHA256}}, Objects: []wire.ObjectRef{ref}},
	}
	record := &wire.JobRecord{
		JobKey: r.Key(), Run: 1, Statement: r.Statement, Circuit: "winning-2k", Priority: r.Priority, Deadline: deadline, State: wire.JobQueued,
		Submitted: wire.MillisOf(time.Now()), Objects: r.Inputs.Objects, Partitions: []wire.PartitionRecord{{State: wire.PartitionQueued, Attempt: 1}},
	}
	if _, admitted, err := s.ledger.Admit(t.Context(), r, record); err != nil || !admitted {
		t.Fatalf("admitted %t, %v", admitted, err)
	}
	return record
}

// sweep lets the reconciler look at the ledger as if some time had passed.
func sweep(t *testing.T, s *Service, later time.Duration) {
	t.Helper()
	if err := s.sweep(t.Context(), make(map[wire.JobKey]time.Time), time.Now().Add(later)); err != nil {
		t.Fatal(err)
	}
}

func state(t *testing.T, s *Service, key wire.JobKey) wire.JobState {
	t.Helper()
	record, _, err := s.ledger.Get(t.Context(), key)
	if errors.Is(err, wire.CodeNoSuchJob) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return record.State
}

func TestSweepStartsQueuedJobs(t *testing.T) {
	s := idle(t)
	record := left(t, s, 0)
	sweep(t, s, 0)
	if got := state(t, s, record.JobKey); got != wire.JobQueued {
		t.Errorf("a job that was touched just now is %s", got)
	}
	for range 2 {
		sweep(t, s, time.Minute)
	}
	if got := state(t, s, record.JobKey); got != wire.JobRunning {
		t.Errorf("the job is %s", got)
	}
	stream, err := s.conn.JetStream().Stream(t.Context(), s.conn.Names().Stream(wire.WorkSynth))
	if err != nil {
		t.Fatal(err)
	}
	if n := stream.CachedInfo().State.Msgs; n != 1 {
		t.Errorf("%d synth jobs", n)
	}
}

// A gateway died after the result was stored and before the ledger followed.
func TestSweepFollowsResults(t *testing.T) {
	s := idle(t)
	record := left(t, s, 0)
	sweep(t, s, time.Minute)
	reason := wire.Errorf(wire.CodeCancelled, "not wanted")
	if _, _, err := s.conn.PublishResult(t.Context(), resultOf(record, wire.Cancelled, reason)); err != nil {
		t.Fatal(err)
	}
	sweep(t, s, time.Minute)
	if got := state(t, s, record.JobKey); got != wire.JobCancelled {
		t.Errorf("the job is %s", got)
	}
	if found, err := s.ledger.HasWork(t.Context(), record.JobKey, 0); err != nil || found {
		t.Errorf("work is left: %t, %v", found, err)
	}
}

// A gateway died after the ledger followed and before all was cleared.
func TestSweepClears(t *testing.T) {
	s := idle(t)
	record := left(t, s, 0)
	reason := wire.Errorf(wire.CodeBadInput, "bad")
	if _, _, err := s.conn.PublishResult(t.Context(), resultOf(record, wire.Failed, reason)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ledger.Update(t.Context(), record.JobKey, func(r *wire.JobRecord) error {
		r.State, r.Error = wire.JobFailed, reason
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		sweep(t, s, 0)
	}
	if _, err := s.ledger.Request(t.Context(), record.JobKey); !errors.Is(err, wire.CodeNoSuchJob) {
		t.Errorf("the request is left: %v", err)
	}
	if _, err := s.conn.Inputs().Get(t.Context(), record.Objects[0]); !errors.Is(err, wire.CodeInputMissing) {
		t.Errorf("the input is left: %v", err)
	}
	if got := state(t, s, record.JobKey); got != wire.JobFailed {
		t.Errorf("the job is %s", got)
	}
	sweep(t, s, bus.ResultAge+time.Minute)
	if got := state(t, s, record.JobKey); got != 0 {
		t.Errorf("after a day the job is still %s", got)
	}
}

func TestSweepExpires(t *testing.T) {
	s := idle(t)
	record := left(t, s, wire.MillisOf(time.Now().Add(time.Minute)))
	sweep(t, s, 0)
	if got := s.expiry.wait(2 * time.Minute); got > time.Minute {
		t.Errorf("the reconciler looks again only after %v", got)
	}
	sweep(t, s, 2*time.Minute)
	result, err := s.conn.Result(t.Context(), record.JobKey)
	if err != nil || result.Status != wire.Expired || !errors.Is(result.Err(), wire.CodeExpired) {
		t.Errorf("%+v, %v", result, err)
	}
	if got := state(t, s, record.JobKey); got != wire.JobExpired {
		t.Errorf("the job is %s", got)
	}
}
