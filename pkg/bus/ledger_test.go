package bus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/wire"
)

func TestLedgerAdmit(t *testing.T) {
	c := connect(t, startServer(t), "gateway")
	l := openLedger(t, c)
	request, record := sample(1, wire.Normal, 2)
	if _, _, err := l.Get(t.Context(), record.JobKey); !errors.Is(err, wire.CodeNoSuchJob) {
		t.Fatalf("an unknown job gives %v", err)
	}
	if _, admitted, err := l.Admit(t.Context(), request, record); err != nil || !admitted {
		t.Fatalf("admitted %t, %v", admitted, err)
	}
	again, admitted, err := l.Admit(t.Context(), request, record)
	if err != nil || admitted || again.State != wire.JobQueued {
		t.Fatalf("admitted again %t, %v", admitted, err)
	}
	got, err := l.Request(t.Context(), record.JobKey)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(request, got); diff != "" {
		t.Errorf("the request differs (-want +got):\n%s", diff)
	}
	if err := l.Forget(t.Context(), record.JobKey); !errors.Is(err, wire.CodeConflict) {
		t.Errorf("a job under way is forgotten: %v", err)
	}
	end := func(r *wire.JobRecord) error {
		r.State, r.Error = wire.JobFailed, wire.Errorf(wire.CodeBadInput, "x")
		return nil
	}
	if _, err := l.Update(t.Context(), record.JobKey, end); err != nil {
		t.Fatal(err)
	}
	// The same run again is answered by its end; the next run begins anew.
	if r, admitted, err := l.Admit(t.Context(), request, record); err != nil || admitted || r.State != wire.JobFailed {
		t.Errorf("the ended run is admitted %t, %v", admitted, err)
	}
	record.Run, request.Run = 2, 2
	if r, admitted, err := l.Admit(t.Context(), request, record); err != nil || !admitted || r.Run != 2 || r.Error != nil {
		t.Errorf("the next run is admitted %t, %v", admitted, err)
	}
	if _, err := l.Update(t.Context(), record.JobKey, end); err != nil {
		t.Fatal(err)
	}
	if err := l.Forget(t.Context(), record.JobKey); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Get(t.Context(), record.JobKey); !errors.Is(err, wire.CodeNoSuchJob) {
		t.Errorf("a forgotten job gives %v", err)
	}
	// After it was forgotten the content may come again.
	record.Run, request.Run = 1, 1
	if _, admitted, err := l.Admit(t.Context(), request, record); err != nil || !admitted {
		t.Errorf("admitted %t, %v", admitted, err)
	}
}

// TestLedgerAdmitRace lets many gateways admit the same request: one does.
func TestLedgerAdmitRace(t *testing.T) {
	s := startServer(t)
	var admitted atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		l := openLedger(t, connect(t, s, fmt.Sprintf("gateway-%d", i)))
		wg.Go(func() {
			request, record := sample(1, wire.Normal, 2)
			if _, ok, err := l.Admit(t.Context(), request, record); err != nil {
				t.Error(err)
			} else if ok {
				admitted.Add(1)
			}
		})
	}
	wg.Wait()
	if n := admitted.Load(); n != 1 {
		t.Errorf("%d gateways admitted the job", n)
	}
}

// TestLedgerUpdateRace lets 16 gateways verify a partition each, all on the same record: no change is lost.
func TestLedgerUpdateRace(t *testing.T) {
	c := connect(t, startServer(t), "gateway")
	l := openLedger(t, c)
	request, record := sample(1, wire.Normal, 16)
	if _, _, err := l.Admit(t.Context(), request, record); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range record.Partitions {
		wg.Go(func() {
			_, err := l.Update(t.Context(), record.JobKey, func(r *wire.JobRecord) error {
				p := &r.Partitions[i]
				p.State, p.Proof = wire.PartitionVerified, bytes.Repeat([]byte{byte(i)}, wire.ProofBytes)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, _, err := l.Get(t.Context(), record.JobKey)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Partitions {
		if p := &got.Partitions[i]; p.State != wire.PartitionVerified || p.Proof[0] != byte(i) {
			t.Errorf("partition %d is %s", i, p.State)
		}
	}
}

// TestLedgerModel runs random sequences of changes against the ledger and against a plain value with the same rules.
func TestLedgerModel(t *testing.T) {
	c := connect(t, startServer(t), "gateway")
	l := openLedger(t, c)
	var sector uint64
	rapid.Check(t, func(rt *rapid.T) {
		sector++
		request, model := sample(sector, wire.Normal, rapid.IntRange(1, 3).Draw(rt, "partitions"))
		if _, _, err := l.Admit(context.Background(), request, model); err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(1, 10).Draw(rt, "steps") {
			state := rapid.SampledFrom([]wire.JobState{wire.JobQueued, wire.JobRunning, wire.JobRunning, wire.JobCompleted, wire.JobFailed, wire.JobExpired}).Draw(rt, "state")
			i := rapid.IntRange(0, len(model.Partitions)-1).Draw(rt, "partition")
			part := wire.PartitionState(rapid.IntRange(1, 6).Draw(rt, "part"))
			attempt := uint32(rapid.IntRange(1, 3).Draw(rt, "attempt"))
			change := func(r *wire.JobRecord) error {
				r.State, r.Error = state, nil
				if state.Ended() && state != wire.JobCompleted {
					r.Error = wire.Errorf(wire.CodeInternal, "x")
				}
				p := &r.Partitions[i]
				p.State, p.Attempt, p.Proof = part, attempt, nil
				if part == wire.PartitionVerified {
					p.Proof = make([]byte, wire.ProofBytes)
				}
				return nil
			}
			want := *model
			want.Partitions = append([]wire.PartitionRecord(nil), model.Partitions...)
			if err := change(&want); err != nil {
				rt.Fatal(err)
			}
			legal := wire.CheckEdge(model, &want) == nil
			_, err := l.Update(context.Background(), model.JobKey, change)
			if legal != (err == nil) || err != nil && !errors.Is(err, wire.CodeConflict) {
				rt.Fatalf("legal %t, error %v", legal, err)
			}
			if legal {
				model = &want
			}
			got, _, err := l.Get(context.Background(), model.JobKey)
			if err != nil {
				rt.Fatal(err)
			}
			if diff := cmp.Diff(model, got, cmpopts.IgnoreFields(wire.JobRecord{}, "Head", "Updated"), cmpopts.IgnoreUnexported(wire.Error{})); diff != "" {
				rt.Fatalf("record differs (-model +ledger):\n%s", diff)
			}
		}
	})
}

func TestLedgerEach(t *testing.T) {
	c := connect(t, startServer(t), "gateway")
	l := openLedger(t, c)
	if err := l.Each(t.Context(), func(*wire.JobRecord) bool { t.Error("an empty ledger has a job"); return true }); err != nil {
		t.Fatal(err)
	}
	want := map[wire.JobKey]bool{}
	for i := range uint64(20) {
		request, record := sample(i, wire.Low, 1)
		if _, _, err := l.Admit(t.Context(), request, record); err != nil {
			t.Fatal(err)
		}
		want[record.JobKey] = true
	}
	got := map[wire.JobKey]bool{}
	if err := l.Each(t.Context(), func(r *wire.JobRecord) bool { got[r.JobKey] = true; return true }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("jobs differ (-want +got):\n%s", diff)
	}
}

// TestOneResult lets gateways end the same run differently at the same time: one end counts, and all see it.
func TestOneResult(t *testing.T) {
	s := startServer(t)
	c := connect(t, s, "gateway")
	_, record := sample(1, wire.Normal, 1)
	if _, err := c.Result(t.Context(), record.JobKey); !errors.Is(err, wire.CodeNoSuchJob) {
		t.Fatalf("a job without result gives %v", err)
	}
	sub, err := c.nc.SubscribeSync(c.names.Result(record.JobKey))
	if err != nil {
		t.Fatal(err)
	}
	for run := uint32(1); run <= 3; run++ {
		var firsts atomic.Int32
		ends := make([]*wire.Result, 12)
		var wg sync.WaitGroup
		for i := range ends {
			wg.Go(func() {
				r := &wire.Result{JobKey: record.JobKey, Run: run, Kind: wire.KindWinningPoSt, Label: fmt.Sprint(i), Status: wire.Completed,
					Proof: make([]byte, wire.ProofBytes), Submitted: 1, Finished: 2}
				if i%2 == 1 {
					r.Status, r.Proof, r.Error = wire.Cancelled, nil, wire.Errorf(wire.CodeCancelled, "x")
				}
				counts, first, err := c.PublishResult(t.Context(), r)
				if err != nil {
					t.Error(err)
					return
				}
				if first {
					firsts.Add(1)
				}
				ends[i] = counts
			})
		}
		wg.Wait()
		if n := firsts.Load(); n != 1 {
			t.Fatalf("run %d: %d results count", run, n)
		}
		stored, err := c.Result(t.Context(), record.JobKey)
		if err != nil {
			t.Fatal(err)
		}
		for i, end := range ends {
			if end.Label != stored.Label || end.Run != run {
				t.Errorf("run %d: gateway %d sees the end of %s, stored is that of %s", run, i, end.Label, stored.Label)
			}
		}
	}
	// Whoever listens hears each run's end once.
	if err := c.nc.FlushTimeout(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	for run := uint32(1); run <= 3; run++ {
		msg, err := sub.NextMsg(10 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		r := new(wire.Result)
		if err := wire.Decode(msg.Data, r); err != nil || r.Run != run {
			t.Fatalf("heard run %d, %v, want %d", r.Run, err, run)
		}
	}
}

func TestFleetAndControls(t *testing.T) {
	s := startServer(t)
	c := connect(t, s, "gateway")
	ctx, cancel := context.WithCancel(t.Context())
	changed, ended := make(chan struct{}), make(chan error)
	busy := atomic.Uint32{}
	go func() {
		ended <- c.RunHeartbeat(ctx, func() *wire.WorkerInfo {
			return &wire.WorkerInfo{Name: "gpu-1", Service: "gpuprove", Slots: 2, Busy: busy.Load()}
		}, changed)
	}()
	busy.Store(1)
	changed <- struct{}{} // received only after the first entry is stored
	changed <- struct{}{}
	fleet, err := c.Fleet(t.Context())
	if err != nil || len(fleet) != 1 || fleet[0].Name != "gpu-1" || fleet[0].Busy != 1 || fleet[0].Seen == 0 {
		t.Errorf("fleet is %+v, %v", fleet, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if fleet, err := c.Fleet(t.Context()); err != nil || len(fleet) != 0 {
		t.Errorf("after the end the fleet is %+v, %v", fleet, err)
	}

	_, record := sample(1, wire.Normal, 2)
	stop, err := c.ServeControls(t.Context(), Controls{
		Cancel: func(_ context.Context, m *wire.Cancel) (*wire.Reply, error) {
			return &wire.Reply{Found: true, Run: 1, State: wire.JobCancelled, Live: m.Reason == "why"}, nil
		},
		Status: func(context.Context, wire.JobKey) (*wire.Reply, error) { return StatusOf(record), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	other := wire.JobKey{Account: "other", ID: record.ID}
	for _, test := range []struct {
		verb string
		key  wire.JobKey
		m    wire.Message
		code wire.Code
	}{
		{"cancel", record.JobKey, &wire.Cancel{JobKey: record.JobKey, Reason: "why"}, 0},
		{"status", record.JobKey, &wire.StatusQuery{JobKey: record.JobKey}, 0},
		{"cancel", other, &wire.Cancel{JobKey: record.JobKey}, wire.CodeNotPermitted},
		{"status", other, &wire.StatusQuery{JobKey: record.JobKey}, wire.CodeNotPermitted},
		{"nonsense", record.JobKey, &wire.StatusQuery{JobKey: record.JobKey}, wire.CodeBadRequest},
	} {
		data, err := wire.Encode(test.m)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.nc.Request(c.names.Ask(test.verb, test.key), data, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		reply := new(wire.Reply)
		if err := wire.Decode(answer.Data, reply); err != nil {
			t.Fatal(err)
		}
		if test.code != 0 {
			if reply.Error == nil || reply.Error.Code != test.code {
				t.Errorf("%s: got %+v, want code %s", test.verb, reply.Error, test.code)
			}
		} else if reply.Error != nil || !reply.Found || !reply.Live {
			t.Errorf("%s: got %+v", test.verb, reply)
		}
	}
}
