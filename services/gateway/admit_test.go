package gateway

import (
	"context"
	"errors"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/wire"
)

// handle lets the gateway take one message of its queue of requests.
func handle(t *testing.T, s *Service) {
	t.Helper()
	q, err := s.conn.NewQueue(context.WithoutCancel(t.Context()), bus.QueueConfig{Work: wire.WorkRequests})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	d, err := q.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Settle(t.Context(), s.handleRequest(d.Context(), d)); err != nil {
		t.Fatal(err)
	}
}

// result is the stored one, nil if there is none.
func result(t *testing.T, s *Service, key wire.JobKey) *wire.Result {
	t.Helper()
	r, err := s.conn.Result(t.Context(), key)
	if err != nil && !errors.Is(err, wire.CodeNoSuchJob) {
		t.Fatal(err)
	}
	return r
}

// A client sees the end of a run before the ledger does, and asks for the next run at once.
func TestNextRunBetweenResultAndLedger(t *testing.T) {
	s := idle(t)
	record := left(t, s, 0)
	if _, _, err := s.conn.PublishResult(t.Context(), resultOf(record, wire.Cancelled, wire.Errorf(wire.CodeCancelled, "not wanted"))); err != nil {
		t.Fatal(err)
	}
	request, err := s.ledger.Request(t.Context(), record.JobKey)
	if err != nil {
		t.Fatal(err)
	}
	request.Run = 2
	if _, err := s.conn.PublishRequest(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	handle(t, s)
	if got := state(t, s, record.JobKey); got != wire.JobCancelled {
		t.Errorf("the first run is %s", got)
	}
	// This gateway has no verifying key, so that it refuses the second run. What matters is that there is an answer.
	if r := result(t, s, record.JobKey); r.Run != 2 || !errors.Is(r.Err(), wire.CodeUnknownProof) && !errors.Is(r.Err(), wire.CodeUnsupportedCircuit) {
		t.Errorf("the result is that of run %d: %v", r.Run, r.Err())
	}
}

// A run whose number nobody can know leaves the one alone that is under way.
func TestRunAheadOfTheOneUnderWay(t *testing.T) {
	s := idle(t)
	record := left(t, s, 0)
	request, err := s.ledger.Request(t.Context(), record.JobKey)
	if err != nil {
		t.Fatal(err)
	}
	request.Run = math.MaxUint32
	if _, err := s.conn.PublishRequest(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	handle(t, s)
	if got := state(t, s, record.JobKey); got != wire.JobQueued {
		t.Errorf("the job is %s", got)
	}
	if r := result(t, s, record.JobKey); r != nil {
		t.Errorf("run %d ended: %v", r.Run, r.Err())
	}
}

// sendUnreadable publishes what is no request under a job's subject.
func sendUnreadable(t *testing.T, s *Service, key wire.JobKey, run uint32) {
	t.Helper()
	msg := &nats.Msg{Subject: s.conn.Names().Request(wire.Normal, key), Header: nats.Header{wire.HeaderRun: {strconv.FormatUint(uint64(run), 10)}}, Data: []byte{0xc1}}
	if _, err := s.conn.JetStream().PublishMsg(t.Context(), msg); err != nil {
		t.Fatal(err)
	}
	handle(t, s)
}

// A message that this release cannot read is refused, without using up the numbers of runs.
func TestUnreadableRequest(t *testing.T) {
	s := idle(t)
	for want := uint32(1); want <= 2; want++ {
		sendUnreadable(t, s, key(1), math.MaxUint32)
		if r := result(t, s, key(1)); r.Run != want || !errors.Is(r.Err(), wire.CodeBadMessage) {
			t.Errorf("the result is that of run %d: %v", r.Run, r.Err())
		}
	}
}

func TestUnreadableRequestLeavesTheJobAlone(t *testing.T) {
	s := idle(t)
	record := left(t, s, 0)
	sendUnreadable(t, s, record.JobKey, 1)
	if r := result(t, s, record.JobKey); r != nil {
		t.Errorf("run %d ended: %v", r.Run, r.Err())
	}
	if got := state(t, s, record.JobKey); got != wire.JobQueued {
		t.Errorf("the job is %s", got)
	}
}
