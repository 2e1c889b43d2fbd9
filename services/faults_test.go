package services_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/bus/objects"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/services/gpuprove"
)

const (
	winning = "winning-2KiB"
	window  = "window-2KiB"
)

// attempts are the attempts at which a result's partitions were made.
func attempts(r *wire.Result) []uint32 {
	var all []uint32
	for _, p := range r.Partitions {
		all = append(all, p.Attempt)
	}
	return all
}

func TestCancelFreesTheProver(t *testing.T) {
	f := newFleet(t, keysOnly(t, winning))
	g := newGate()
	freed := make(chan error, 1)
	f.gateway("gateway-1")
	f.prover("prove-1", newDouble(t, func(ctx context.Context, _ int, _ *gpuprove.Work) ([]byte, error) {
		err := g.wait(ctx)
		freed <- err
		return nil, err
	}, winning))
	f.synth()
	key := f.submit(readFixture(t, winning).request(t))
	g.await(t)
	data, err := wire.Encode(&wire.Cancel{JobKey: key, Reason: "not wanted"})
	if err != nil {
		t.Fatal(err)
	}
	for i, live := range []bool{true, false} {
		msg, err := f.client.NATS().Request(f.client.Names().Ask("cancel", key), data, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		reply := new(wire.Reply)
		if err := wire.Decode(msg.Data, reply); err != nil {
			t.Fatal(err)
		}
		if reply.Error != nil || !reply.Found || reply.Live != live || reply.State != wire.JobCancelled {
			t.Fatalf("cancel %d: %+v, %v", i, reply, reply.Error)
		}
	}
	select {
	case err := <-freed:
		if !errors.Is(err, bus.ErrStopped) {
			t.Errorf("the proof ended with %v", err)
		}
	case <-time.After(patience):
		t.Fatal("the prover goes on")
	}
	if r := f.result(key, 1); r.Status != wire.Cancelled || !errors.Is(r.Err(), wire.CodeCancelled) {
		t.Errorf("result is %s, %v", r.Status, r.Err())
	}
	// The same content may be asked for anew, and that run is not touched by the end of the first.
	close(g.open)
	again := readFixture(t, winning).request(t)
	again.Run = 2
	f.submit(again)
	r := f.result(key, 2)
	f.verified(again, r, winning)
	if n := r.Partitions[0].Attempt; n != 1 {
		t.Errorf("the new run took %d attempts", n)
	}
}

// A prover that dies in the middle of a proof, without a word, is replaced by another; there is one proof.
func TestProverDies(t *testing.T) {
	f := newFleet(t, keysOnly(t, winning))
	g := newGate()
	f.gateway("gateway-1")
	doomed := f.prover("prove-1", newDouble(t, func(ctx context.Context, _ int, _ *gpuprove.Work) ([]byte, error) { return nil, g.wait(ctx) }, winning))
	f.synth()
	r := readFixture(t, winning).request(t)
	key := f.submit(r)
	g.await(t)
	doomed.kill()
	second := newDouble(t, nil, winning)
	f.prover("prove-2", second)
	result := f.result(key, 1)
	f.verified(r, result, winning)
	if result.Partitions[0].ProveWorker != "prove-2" || result.Partitions[0].Attempt != 1 || second.calls.Load() != 1 {
		t.Errorf("made by %+v in %d calls", result.Partitions[0], second.calls.Load())
	}
	if n := f.stored(f.client.Names().StreamResults()); n != 1 {
		t.Errorf("%d results", n)
	}
}

// A prover that is asked to stop and cannot finish in time gives its work back; that is no failure and no attempt.
func TestDrainGivesBack(t *testing.T) {
	f := newFleet(t, keysOnly(t, winning))
	f.drain = 50 * time.Millisecond
	f.gateway("gateway-1")
	f.run("synth-1", f.synthFor(winning, t))
	r := readFixture(t, winning).request(t)
	for range bus.MaxDeliver + 1 {
		g := newGate()
		p := f.prover("prove-1", newDouble(t, func(ctx context.Context, _ int, _ *gpuprove.Work) ([]byte, error) { return nil, g.wait(ctx) }, winning))
		f.submit(r)
		g.await(t)
		p.stop()
	}
	last := newDouble(t, nil, winning)
	f.prover("prove-2", last)
	result := f.result(r.Key(), 1)
	f.verified(r, result, winning)
	if result.Partitions[0].Attempt != 1 || last.calls.Load() != 1 {
		t.Errorf("made by %+v in %d calls", result.Partitions[0], last.calls.Load())
	}
}

// A prover that is asked to stop finishes what it has in hand.
func TestDrainFinishes(t *testing.T) {
	f := newFleet(t, keysOnly(t, winning))
	g := newGate()
	f.gateway("gateway-1")
	f.run("synth-1", f.synthFor(winning, t))
	p := f.prover("prove-1", newDouble(t, func(ctx context.Context, _ int, _ *gpuprove.Work) ([]byte, error) { return nil, g.wait(ctx) }, winning))
	r := readFixture(t, winning).request(t)
	key := f.submit(r)
	g.await(t)
	p.cancel()
	close(g.open)
	f.verified(r, f.result(key, 1), winning)
	p.stop()
}

// A gateway that takes over a job in the middle derives again what it verifies against.
func TestGatewayRestarts(t *testing.T) {
	f := newFleet(t, keysOnly(t, window))
	g := newGate()
	first := f.gateway("gateway-1")
	backend := newDouble(t, func(ctx context.Context, _ int, _ *gpuprove.Work) ([]byte, error) { return nil, g.wait(ctx) }, window)
	f.prover("prove-1", backend)
	f.synth()
	r := readFixture(t, window).request(t)
	key := f.submit(r)
	g.await(t)
	first.kill()
	close(g.open)
	f.gateway("gateway-2")
	result := f.result(key, 1)
	f.verified(r, result, window)
	if n := backend.calls.Load(); n != 2 {
		t.Errorf("two partitions took %d proofs", n)
	}
	if n := f.stored(f.client.Names().StreamResults()); n != 1 {
		t.Errorf("%d results", n)
	}
}

// However often and urgently the same content is asked for, it is proved once.
func TestDuplicatesProveOnce(t *testing.T) {
	f := newFleet(t, keysOnly(t, winning))
	f.gateway("gateway-1")
	f.gateway("gateway-2")
	backend := newDouble(t, nil, winning)
	f.prover("prove-1", backend)
	f.synth()
	r := readFixture(t, winning).request(t)
	for _, p := range wire.Priorities() {
		for range 3 {
			r.Priority = p
			f.submit(r)
		}
	}
	f.verified(r, f.result(r.Key(), 1), winning)
	eventually(t, "all requests read", func() bool {
		s, err := f.client.JetStream().Stream(t.Context(), f.client.Names().Stream(wire.WorkRequests))
		return err == nil && s.CachedInfo().State.Msgs == 0
	})
	if n := backend.calls.Load(); n != 1 {
		t.Errorf("%d proofs", n)
	}
	if n := f.stored(f.client.Names().StreamResults()); n != 1 {
		t.Errorf("%d results", n)
	}
}

// A proof that does not hold never leaves: it is made again, once.
func TestRejectedProof(t *testing.T) {
	golden := readFixture(t, window)
	for name, c := range map[string]struct {
		bad    func(call int, w *gpuprove.Work) bool
		status wire.Status
	}{
		"once":   {func(call int, _ *gpuprove.Work) bool { return call == 1 }, wire.Completed},
		"always": {func(_ int, w *gpuprove.Work) bool { return w.Header.Partition == 0 }, wire.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, keysOnly(t, window))
			f.gateway("gateway-1")
			f.prover("prove-1", newDouble(t, func(_ context.Context, call int, w *gpuprove.Work) ([]byte, error) {
				if c.bad(call, w) {
					return golden.proof(t, 1-int(w.Header.Partition)), nil // a good proof of something else
				}
				return nil, nil
			}, window))
			f.synth()
			r := readFixture(t, window).request(t)
			result := f.result(f.submit(r), 1)
			if result.Status != c.status {
				t.Fatalf("%s: %v", result.Status, result.Err())
			}
			if c.status == wire.Completed {
				f.verified(r, result, window)
			} else if !errors.Is(result.Err(), wire.CodeProofRejected) || result.Error.Detail["worker"] != "prove-1" {
				t.Errorf("failed with %v, %v", result.Err(), result.Error.Detail)
			}
		})
	}
}

// A witness blob that is gone has the partition made again.
func TestBlobLost(t *testing.T) {
	f := newFleet(t, keysOnly(t, winning))
	f.gateway("gateway-1")
	f.run("synth-1", f.synthFor(winning, t))
	r := readFixture(t, winning).request(t)
	key := f.submit(r)
	names := f.client.Names()
	eventually(t, "prove job", func() bool {
		s, err := f.client.JetStream().Stream(t.Context(), names.Stream(wire.WorkProve))
		return err == nil && s.CachedInfo().State.Msgs == 1
	})
	s, err := f.client.JetStream().Stream(t.Context(), "OBJ_"+names.BucketBlobs())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.prover("prove-1", newDouble(t, nil, winning))
	result := f.result(key, 1)
	f.verified(r, result, winning)
	if got := attempts(result); got[0] != 2 {
		t.Errorf("attempts %v", got)
	}
}

// A job whose deadline passes ends as expired, whether anybody works on it or not.
func TestDeadlinePasses(t *testing.T) {
	f := newFleet(t, keysOnly(t, winning))
	f.gateway("gateway-1")
	r := readFixture(t, winning).request(t)
	r.Deadline = wire.MillisOf(time.Now().Add(300 * time.Millisecond))
	if result := f.result(f.submit(r), 1); result.Status != wire.Expired || !errors.Is(result.Err(), wire.CodeExpired) {
		t.Errorf("%s: %v", result.Status, result.Err())
	}
	late := readFixture(t, winning).request(t)
	late.Run, late.Deadline = 2, wire.MillisOf(time.Now().Add(-time.Second))
	if result := f.result(f.submit(late), 2); result.Status != wire.Expired {
		t.Errorf("%s: %v", result.Status, result.Err())
	}
}

// The reconciler publishes again what the queues lost.
func TestReconcilerFindsLostWork(t *testing.T) {
	if testing.Short() {
		t.Skip("waits out the reconciler's patience, some ten seconds")
	}
	f := newFleet(t, keysOnly(t, window))
	f.gateway("gateway-1")
	r := readFixture(t, window).request(t)
	key := f.submit(r)
	names := f.client.Names()
	lost := func() bool {
		s, err := f.client.JetStream().Stream(t.Context(), names.Stream(wire.WorkSynth))
		if err != nil || s.CachedInfo().State.Msgs != 2 {
			return false
		}
		return s.Purge(t.Context()) == nil
	}
	eventually(t, "synth jobs", lost)
	f.prover("prove-1", newDouble(t, nil, window))
	f.synth()
	result := f.result(key, 1)
	f.verified(r, result, window)
	if got := attempts(result); got[0] != 2 || got[1] != 2 {
		t.Errorf("attempts %v", got)
	}
}

// A request over which gateways die again and again ends with that as its result.
func TestDeadlyRequest(t *testing.T) {
	f := newFleet(t, keysOnly(t, winning))
	if err := f.client.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := readFixture(t, winning).request(t)
	key := f.submit(r)
	names := f.client.Names()
	consumer, err := f.client.JetStream().Consumer(t.Context(), names.Stream(wire.WorkRequests), names.Consumer(wire.WorkRequests, r.Priority, "", ""))
	if err != nil {
		t.Fatal(err)
	}
	for range bus.MaxDeliver { // as gateways that die do, without the waiting
		msg, err := consumer.Next()
		if err != nil {
			t.Fatal(err)
		}
		if err := msg.Nak(); err != nil {
			t.Fatal(err)
		}
	}
	f.gateway("gateway-1")
	if result := f.result(key, 1); result.Status != wire.Failed || !errors.Is(result.Err(), wire.CodeAttemptsExhausted) {
		t.Errorf("%s: %v", result.Status, result.Err())
	}
}

// A gateway that takes over a job whose inputs are gone cannot verify it, and says so.
func TestInputsGoneAfterRestart(t *testing.T) {
	f := newFleet(t, keysOnly(t, winning))
	g := newGate()
	first := f.gateway("gateway-1")
	f.prover("prove-1", newDouble(t, func(ctx context.Context, _ int, _ *gpuprove.Work) ([]byte, error) { return nil, g.wait(ctx) }, winning))
	f.synth()
	r := readFixture(t, winning).request(t)
	in := &r.Inputs.List[0]
	ref, err := f.client.Inputs().Put(t.Context(), objects.NewName("in"), bytes.NewReader(in.Inline), int64(in.Size))
	if err != nil {
		t.Fatal(err)
	}
	r.Inputs.Objects, in.Inline, in.Object = []wire.ObjectRef{ref}, nil, 1
	key := f.submit(r)
	g.await(t)
	first.kill()
	if err := f.client.Inputs().Delete(t.Context(), ref.Name); err != nil {
		t.Fatal(err)
	}
	close(g.open)
	f.gateway("gateway-2")
	if result := f.result(key, 1); result.Status != wire.Failed || !errors.Is(result.Err(), wire.CodeInputMissing) {
		t.Errorf("%s: %v", result.Status, result.Err())
	}
}
