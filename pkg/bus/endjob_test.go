package bus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/proofmill/proofmill/pkg/bus/objects"
	"github.com/proofmill/proofmill/pkg/wire"
)

func TestEndCleansUp(t *testing.T) {
	c := connect(t, startServer(t), "gateway")
	l := openLedger(t, c)
	data := bytes.Repeat([]byte{1}, 700<<10)
	ref, err := c.Inputs().Put(t.Context(), objects.NewName("in"), bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	jobs := admit(t, l, 1, wire.Normal, 2, time.Time{})
	key := jobs[0].Task.JobKey
	if _, err := l.Update(t.Context(), key, func(r *wire.JobRecord) error {
		r.State, r.Objects = wire.JobRunning, []wire.ObjectRef{ref}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := c.PublishSynth(t.Context(), jobs); err != nil {
		t.Fatal(err)
	}
	held := next(t, newQueue(t, c, wire.WorkSynth))

	completed := &wire.Result{JobKey: key, Run: 1, Kind: wire.KindWinningPoSt, Status: wire.Completed, Proof: make([]byte, 2*wire.ProofBytes), Submitted: 1, Finished: 2}
	if _, err := l.End(t.Context(), completed); !errors.Is(err, wire.CodeConflict) {
		t.Fatalf("completed without proofs: %v", err)
	}
	if _, err := c.Result(t.Context(), key); !errors.Is(err, wire.CodeNoSuchJob) {
		t.Fatalf("a result is stored: %v", err)
	}
	failed := &wire.Result{JobKey: key, Run: 1, Kind: wire.KindWinningPoSt, Status: wire.Failed, Error: wire.Errorf(wire.CodeBadInput, "x"), Submitted: 1, Finished: 2}
	for range 2 {
		if counts, err := l.End(t.Context(), failed); err != nil || counts.Status != wire.Failed {
			t.Fatalf("ended as %v, %v", counts, err)
		}
	}
	<-held.Context().Done()
	if !errors.Is(context.Cause(held.Context()), ErrStopped) {
		t.Errorf("the worker's context ends with %v", context.Cause(held.Context()))
	}
	if err := held.Settle(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if n := depth(t, c, wire.WorkSynth); n != 0 {
		t.Errorf("%d messages are left", n)
	}
	if _, err := l.Request(t.Context(), key); !errors.Is(err, wire.CodeNoSuchJob) {
		t.Errorf("the request is left: %v", err)
	}
	if _, err := c.Inputs().Get(t.Context(), ref); !errors.Is(err, wire.CodeInputMissing) {
		t.Errorf("the input is left: %v", err)
	}
	if r, _, err := l.Get(t.Context(), key); err != nil || r.State != wire.JobFailed || r.Error.Code != wire.CodeBadInput {
		t.Errorf("the record is %+v, %v", r, err)
	}
}

// TestEndFollowsTheFirst dies between result and ledger, and lets another gateway end the job differently.
func TestEndFollowsTheFirst(t *testing.T) {
	c := connect(t, startServer(t), "gateway")
	l := openLedger(t, c)
	key := admit(t, l, 1, wire.Normal, 1, time.Time{})[0].Task.JobKey
	if _, _, err := c.PublishResult(t.Context(), &wire.Result{JobKey: key, Run: 1, Kind: wire.KindWinningPoSt, Status: wire.Cancelled,
		Error: wire.Errorf(wire.CodeCancelled, "x"), Submitted: 1, Finished: 2}); err != nil {
		t.Fatal(err)
	}
	counts, err := l.End(t.Context(), &wire.Result{JobKey: key, Run: 1, Kind: wire.KindWinningPoSt, Status: wire.Failed,
		Error: wire.Errorf(wire.CodeBadInput, "x"), Submitted: 1, Finished: 2})
	if err != nil || counts.Status != wire.Cancelled {
		t.Fatalf("counts %v, %v", counts, err)
	}
	if r, _, err := l.Get(t.Context(), key); err != nil || r.State != wire.JobCancelled {
		t.Errorf("the record is %s, %v", r.State, err)
	}
}

func TestLost(t *testing.T) {
	c := connect(t, startServer(t), "gateway")
	l := openLedger(t, c)
	jobs := admit(t, l, 1, wire.Normal, 4, time.Time{})
	key := jobs[0].Task.JobKey
	if err := c.PublishSynth(t.Context(), jobs[:2]); err != nil {
		t.Fatal(err)
	}
	d := next(t, newQueue(t, c, wire.WorkSynth)) // in hand is not lost
	record, err := l.Update(t.Context(), key, func(r *wire.JobRecord) error {
		r.Submitted = 1
		r.Partitions[2].State, r.Partitions[2].Proof = wire.PartitionVerified, make([]byte, wire.ProofBytes)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if lost, err := l.Lost(t.Context(), record, time.Minute); err != nil || !slices.Equal(lost, []int{3}) {
		t.Errorf("lost %v, %v", lost, err)
	}
	record.Partitions[3].Since = wire.MillisOf(time.Now())
	if lost, err := l.Lost(t.Context(), record, time.Minute); err != nil || len(lost) != 0 {
		t.Errorf("with fresh news, lost %v, %v", lost, err)
	}
	if err := d.Settle(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

// TestPipelineSurvivesKills runs jobs through a synth and a prover of which processes die after each kind of step, and a gateway that
// ends them: each job ends once.
func TestPipelineSurvivesKills(t *testing.T) {
	s := startServer(t)
	c := connect(t, s, "gateway")
	l := openLedger(t, c)
	const jobs = 4
	for i := range uint64(jobs) {
		if err := c.PublishSynth(t.Context(), admit(t, l, i, wire.Critical, 2, time.Time{})); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()

	// A process dies at its n-th step: its connection is gone, nothing is settled. Another one takes over.
	var wg sync.WaitGroup
	serve := func(name string, w wire.Work, dieAt []int, handle func(c *Conn, d *Delivery, step func() bool) error) {
		defer wg.Done()
		for life := 0; ctx.Err() == nil; life++ {
			conn, err := Connect(ctx, Config{Name: fmt.Sprintf("%s-%d", name, life), Options: []nats.Option{s.Option()}, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				if ctx.Err() == nil {
					t.Error(err)
				}
				return
			}
			q, err := conn.NewQueue(ctx, QueueConfig{Work: w, Circuits: []string{circuit}})
			if err != nil {
				if ctx.Err() == nil {
					t.Error(err)
				}
				conn.Close()
				return
			}
			steps := 0
			step := func() bool {
				steps++
				if life < len(dieAt) && steps == dieAt[life] {
					conn.nc.Close()
					return false
				}
				return true
			}
			for {
				d, err := q.Next(ctx)
				if err != nil {
					break
				}
				if err := handle(conn, d, step); err != nil {
					if !conn.nc.IsClosed() && ctx.Err() == nil { // the last clean-up may be cut by the end of the test
						t.Errorf("%s: %v", name, err)
					}
					break
				}
			}
			q.Close()
			conn.Close()
		}
	}
	wg.Add(2)
	go serve("synth", wire.WorkSynth, []int{1, 4, 6}, func(c *Conn, d *Delivery, step func() bool) error {
		job, err := d.SynthJob()
		if err != nil {
			return err
		}
		if !step() {
			return errors.New("killed before the blob")
		}
		blob := []byte(fmt.Sprintf("%s %d", job.Task.ID, job.Task.Partition))
		ref, err := c.Blobs().Put(ctx, objects.NewName("blob"), bytes.NewReader(blob), int64(len(blob)))
		if err != nil {
			return err
		}
		if !step() {
			return errors.New("killed before the prove job")
		}
		if err := c.PublishProve(ctx, &wire.ProveJob{Task: job.Task, Blob: ref, Worker: c.Name()}); err != nil {
			return err
		}
		if !step() {
			return errors.New("killed before the acknowledgement")
		}
		return d.Settle(ctx, nil)
	})
	go serve("prover", wire.WorkProve, []int{2, 2}, func(c *Conn, d *Delivery, step func() bool) error {
		job, err := d.ProveJob()
		if err != nil {
			return err
		}
		blob, err := c.Blobs().Get(ctx, job.Blob)
		if err != nil {
			return err
		}
		if want := fmt.Sprintf("%s %d", job.Task.ID, job.Task.Partition); string(blob) != want {
			return fmt.Errorf("blob %q, want %q", blob, want)
		}
		if !step() {
			return errors.New("killed before the proof")
		}
		if err := c.PublishDone(ctx, &wire.PartitionProof{Task: job.Task, Proof: make([]byte, wire.ProofBytes), Worker: c.Name()}); err != nil {
			return err
		}
		if !step() {
			return errors.New("killed before the acknowledgement")
		}
		return errors.Join(d.Settle(ctx, nil), c.Blobs().Delete(ctx, job.Blob.Name))
	})

	ended := map[wire.JobKey]int{}
	q := newQueue(t, c, wire.WorkDone)
	for len(ended) < jobs {
		d, err := q.Next(ctx)
		if err != nil {
			t.Fatalf("%d of %d jobs ended: %v", len(ended), jobs, err)
		}
		p, err := d.PartitionProof()
		if err != nil {
			t.Fatal(err)
		}
		if p.Error != nil {
			t.Fatalf("job %s, partition %d: %v", p.Task.ID.Short(), p.Task.Partition, p.Error)
		}
		record, err := l.Update(ctx, p.Task.JobKey, func(r *wire.JobRecord) error {
			part := &r.Partitions[p.Task.Partition]
			if r.State.Ended() || part.State == wire.PartitionVerified {
				return ErrUnchanged
			}
			part.State, part.Proof = wire.PartitionVerified, p.Proof
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if !record.State.Ended() && record.Verified() == len(record.Partitions) {
			if _, err := l.End(ctx, &wire.Result{JobKey: record.JobKey, Run: 1, Kind: wire.KindWinningPoSt, Status: wire.Completed,
				Proof: make([]byte, 2*wire.ProofBytes), Submitted: 1, Finished: 2}); err != nil {
				t.Fatal(err)
			}
			ended[record.JobKey]++
		}
		if err := d.Settle(ctx, nil); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	wg.Wait()
	for key, n := range ended {
		if n != 1 {
			t.Errorf("job %s ended %d times", key.ID.Short(), n)
		}
	}
}
