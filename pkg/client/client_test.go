package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/bus/embedded"
	"github.com/proofmill/proofmill/pkg/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// gateway is a fleet of one small process for tests: it admits requests into the ledger and, when told to, ends them with a
// "proof" that is the digest of the vanilla proofs. It does with the bus what a real gateway does, but for the partitions.
type gateway struct {
	t        *testing.T
	conn     *bus.Conn
	ledger   *bus.Ledger
	answer   chan struct{} // one for each job that may end
	admitted atomic.Int32
	seen     chan wire.JobKey // jobs admitted
	fail     atomic.Pointer[wire.Error]
}

func startServer(t *testing.T) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(t.Context(), embedded.Config{StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Shutdown)
	return s
}

// start runs a gateway until the returned function is called, which is idempotent.
func start(t *testing.T, opt nats.Option) (g *gateway, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	conn, err := bus.Connect(ctx, bus.Config{Name: "gateway", Options: []nats.Option{opt}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Setup(ctx); err != nil {
		t.Fatal(err)
	}
	ledger, err := conn.OpenLedger(ctx)
	if err != nil {
		t.Fatal(err)
	}
	g = &gateway{t: t, conn: conn, ledger: ledger, answer: make(chan struct{}, 100), seen: make(chan wire.JobKey, 100)}
	stopControls, err := conn.ServeControls(ctx, bus.Controls{Cancel: g.cancel, Status: g.status})
	if err != nil {
		t.Fatal(err)
	}
	queue, err := conn.NewQueue(ctx, bus.QueueConfig{Work: wire.WorkRequests})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := queue.Run(ctx, g.handle); err != nil {
			t.Error(err)
		}
	})
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			wg.Wait()
			stopControls()
			queue.Close()
			conn.Close()
		})
	}
	t.Cleanup(stop)
	return g, stop
}

func (g *gateway) handle(ctx context.Context, d *bus.Delivery) error {
	request, err := d.Request()
	if err != nil {
		return bus.Terminal(err)
	}
	record := &wire.JobRecord{
		JobKey: request.Key(), Run: request.Run, Statement: request.Statement, Circuit: "test-2k", Label: request.Label, Priority: request.Priority,
		State: wire.JobQueued, Submitted: 1, Objects: request.Inputs.Objects, Partitions: []wire.PartitionRecord{{State: wire.PartitionQueued, Attempt: 1}},
	}
	record, admitted, err := g.ledger.Admit(ctx, request, record)
	if err != nil {
		return err
	}
	if admitted {
		g.admitted.Add(1)
		g.seen <- record.JobKey
	} else if record.State.Ended() {
		return nil
	}
	if err := g.conn.PublishProgress(&wire.Progress{JobKey: record.JobKey, Run: record.Run, State: wire.JobRunning, Total: 1}); err != nil {
		return err
	}
	select {
	case <-g.answer:
	case <-ctx.Done():
		return bus.Interrupted(ctx.Err())
	}
	proof, err := g.prove(ctx, request)
	if err != nil {
		return err
	}
	result := &wire.Result{JobKey: record.JobKey, Run: record.Run, Kind: record.Statement.Kind, Label: record.Label, Status: wire.Completed, Proof: proof,
		Submitted: 1, Finished: 2}
	if e := g.fail.Load(); e != nil {
		result.Status, result.Proof, result.Error = wire.Failed, nil, e
	}
	return g.end(ctx, result)
}

// prove fetches all inputs and makes bytes that depend on them.
func (g *gateway) prove(ctx context.Context, r *wire.Request) ([]byte, error) {
	var all []byte
	for i := range r.Inputs.List {
		x := &r.Inputs.List[i]
		data := x.Inline
		if x.Object != 0 {
			object, err := g.conn.Inputs().Get(ctx, r.Inputs.Objects[x.Object-1])
			if err != nil {
				return nil, err
			}
			data = object[x.Offset : x.Offset+x.Size]
		}
		all = append(all, data...)
	}
	return fakeProof(all), nil
}

func fakeProof(all []byte) []byte {
	sum := wire.SumOf(all)
	return bytes.Repeat(sum[:], wire.ProofBytes/len(sum))
}

func (g *gateway) end(ctx context.Context, result *wire.Result) error {
	if result.Status == wire.Completed {
		_, err := g.ledger.Update(ctx, result.JobKey, func(r *wire.JobRecord) error {
			if r.State.Ended() {
				return bus.ErrUnchanged
			}
			r.Partitions[0].State, r.Partitions[0].Proof = wire.PartitionVerified, result.Proof
			return nil
		})
		if err != nil {
			return err
		}
	}
	_, err := g.ledger.End(ctx, result)
	return err
}

func (g *gateway) cancel(ctx context.Context, m *wire.Cancel) (*wire.Reply, error) {
	record, _, err := g.ledger.Get(ctx, m.JobKey)
	if errors.Is(err, wire.CodeNoSuchJob) {
		return &wire.Reply{}, nil
	}
	if err != nil {
		return nil, err
	}
	live := !record.State.Ended()
	if live {
		if err := g.end(ctx, &wire.Result{JobKey: m.JobKey, Run: record.Run, Kind: record.Statement.Kind, Status: wire.Cancelled,
			Error: wire.Errorf(wire.CodeCancelled, "job %s: cancelled: %s", m.ID.Short(), m.Reason), Submitted: 1, Finished: 2}); err != nil {
			return nil, err
		}
	}
	return &wire.Reply{Found: true, Run: record.Run, State: wire.JobCancelled, Live: live}, nil
}

func (g *gateway) status(ctx context.Context, key wire.JobKey) (*wire.Reply, error) {
	record, _, err := g.ledger.Get(ctx, key)
	if errors.Is(err, wire.CodeNoSuchJob) {
		return &wire.Reply{}, nil
	}
	if err != nil {
		return nil, err
	}
	return bus.StatusOf(record), nil
}

func dial(t *testing.T, opt nats.Option) *Client {
	t.Helper()
	c, err := Dial(t.Context(), Config{Name: "client", Options: []nats.Option{opt}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// within gives a context that no healthy run outlives.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func request(sector uint64, vanilla ...[]byte) Request {
	if vanilla == nil {
		vanilla = [][]byte{[]byte("vanilla")}
	}
	return Request{Statement: wire.Statement{Kind: wire.KindUpdate, Miner: 1000, Sector: sector}, Label: fmt.Sprint("sector ", sector), Vanilla: vanilla}
}

func TestProve(t *testing.T) {
	s := startServer(t)
	g, _ := start(t, s.Option())
	c := dial(t, s.Option())
	big := func(n byte) []byte { return bytes.Repeat([]byte{n}, 600<<10) }
	for name, vanilla := range map[string][][]byte{
		"inline":         {[]byte("a"), []byte("b")},
		"object":         {big(1)},
		"several":        {big(1), []byte("small"), big(2), big(3)},
		"object per one": {bytes.Repeat([]byte{4}, packBytes+1), bytes.Repeat([]byte{5}, packBytes+1)},
	} {
		t.Run(name, func(t *testing.T) {
			g.answer <- struct{}{}
			r := request(1, vanilla...)
			progress := make(chan *wire.Progress, 10)
			result, err := c.Prove(within(t), r, func(p *wire.Progress) { progress <- p })
			if err != nil {
				t.Fatal(err)
			}
			if want := fakeProof(bytes.Join(vanilla, nil)); !bytes.Equal(result.Proof, want) {
				t.Error("the fleet saw other inputs")
			}
			if result.ID != r.ID() || result.Label != r.Label {
				t.Errorf("result of job %s, %q", result.ID, result.Label)
			}
			if p := <-progress; p.ID != r.ID() {
				t.Errorf("progress of job %s", p.ID)
			}
			// The same again, also from another process, gives the stored proof and sends nothing.
			before := g.admitted.Load()
			again, err := dial(t, s.Option()).Prove(within(t), r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(result, again); diff != "" {
				t.Errorf("the second answer differs (-first +second):\n%s", diff)
			}
			if g.admitted.Load() != before {
				t.Error("a proved job was admitted again")
			}
		})
	}
}

// TestReattach submits, loses its process, and submits the same content from a new one: the job is made once.
func TestReattach(t *testing.T) {
	s := startServer(t)
	g, _ := start(t, s.Option())
	r := request(1, bytes.Repeat([]byte{7}, 700<<10))
	first, err := Dial(t.Context(), Config{Options: []nats.Option{s.Option()}})
	if err != nil {
		t.Fatal(err)
	}
	id, err := first.Submit(within(t), r)
	if err != nil {
		t.Fatal(err)
	}
	<-g.seen
	first.Close()

	second := dial(t, s.Option())
	r.Label = "another label"
	again, err := second.Submit(within(t), r)
	if err != nil || again != id {
		t.Fatalf("job %s, %v; want %s", again, err, id)
	}
	g.answer <- struct{}{}
	if _, err := second.Await(within(t), id); err != nil {
		t.Fatal(err)
	}
	// A third process that knows only the id fetches the same.
	if result, err := dial(t, s.Option()).Result(within(t), id); err != nil || result.Label != "sector 1" {
		t.Errorf("result %+v, %v", result, err)
	}
	if n := g.admitted.Load(); n != 1 {
		t.Errorf("the job was admitted %d times", n)
	}
}

// TestManyDuplicates submits the same content from many goroutines and processes at once.
func TestManyDuplicates(t *testing.T) {
	s := startServer(t)
	g, _ := start(t, s.Option())
	g.answer <- struct{}{}
	clients := []*Client{dial(t, s.Option()), dial(t, s.Option())}
	ctx := within(t)
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			if _, err := clients[i%2].Prove(ctx, request(1), nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := g.admitted.Load(); n != 1 {
		t.Errorf("the job was admitted %d times", n)
	}
}

func TestFailedJobRunsAgain(t *testing.T) {
	s := startServer(t)
	g, _ := start(t, s.Option())
	c := dial(t, s.Option())
	g.fail.Store(wire.Errorf(wire.CodeBadVanillaProof, "sector 1, challenge 3: the path does not end in comm_r").With("sector", "1"))
	for run := uint32(1); run <= 2; run++ {
		g.answer <- struct{}{}
		result, err := c.Prove(within(t), request(1), nil)
		var e *wire.Error
		if !errors.As(err, &e) || e.Code != wire.CodeBadVanillaProof || e.Class != wire.Terminal || e.Detail["sector"] != "1" || result.Run != run {
			t.Fatalf("run %d: %+v, %v", run, result, err)
		}
	}
	g.fail.Store(nil)
	g.answer <- struct{}{}
	if result, err := c.Prove(within(t), request(1), nil); err != nil || result.Run != 3 {
		t.Fatalf("after the failures: %+v, %v", result, err)
	}
}

func TestCancel(t *testing.T) {
	s := startServer(t)
	g, _ := start(t, s.Option())
	c := dial(t, s.Option())
	id, err := c.Submit(within(t), request(1))
	if err != nil {
		t.Fatal(err)
	}
	<-g.seen
	if reply, err := c.Status(within(t), id); err != nil || !reply.Live || reply.State != wire.JobQueued {
		t.Errorf("status %+v, %v", reply, err)
	}
	if was, err := c.Cancel(within(t), id, "changed my mind"); err != nil || !was {
		t.Fatalf("was running %t, %v", was, err)
	}
	if _, err := c.Await(within(t), id); !errors.Is(err, wire.CodeCancelled) {
		t.Errorf("the cancelled job ends with %v", err)
	}
	if was, err := c.Cancel(within(t), id, ""); err != nil || was {
		t.Errorf("cancelled again: was running %t, %v", was, err)
	}
	if _, err := c.Cancel(within(t), (&Request{}).ID(), ""); !errors.Is(err, wire.CodeNoSuchJob) {
		t.Errorf("an unknown job gives %v", err)
	}
	g.answer <- struct{}{} // the test gateway has it in hand still

	// Prove cancels when its context ends.
	ctx, cancel := context.WithCancel(t.Context())
	other := request(2)
	ended := make(chan error, 1)
	go func() {
		_, err := c.Prove(ctx, other, nil)
		ended <- err
	}()
	<-g.seen
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Prove ends with %v", err)
	}
	if _, err := c.Await(within(t), other.ID()); !errors.Is(err, wire.CodeCancelled) {
		t.Errorf("the abandoned job ends with %v", err)
	}
	g.answer <- struct{}{}
}

// TestServerRestart awaits over a restart of server and gateway.
func TestServerRestart(t *testing.T) {
	dir := t.TempDir()
	run := func(port int) *embedded.Server {
		s, err := embedded.Start(t.Context(), embedded.Config{StoreDir: dir, Port: port})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := run(-1)
	url := s.URL()
	g, stop := start(t, s.Option())
	c, err := Dial(t.Context(), Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	id, err := c.Submit(within(t), request(1))
	if err != nil {
		t.Fatal(err)
	}
	<-g.seen
	ended := make(chan error, 1)
	ctx := within(t)
	go func() {
		_, err := c.Await(ctx, id)
		ended <- err
	}()
	stop()
	s.Shutdown()

	var port int
	if _, err := fmt.Sscanf(url, "nats://127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	s = run(port)
	t.Cleanup(s.Shutdown)
	g, _ = start(t, s.Option())
	g.answer <- struct{}{}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if n := g.admitted.Load(); n != 0 {
		t.Error("the second gateway admitted the job anew")
	}
}

func TestSubmitRefusals(t *testing.T) {
	s := startServer(t)
	c := dial(t, s.Option())
	if _, err := c.Submit(within(t), request(1)); !errors.Is(err, wire.CodeNoGateway) {
		t.Errorf("without a fleet: %v", err)
	}
	start(t, s.Option())
	for name, r := range map[string]Request{
		"no kind":    {Vanilla: [][]byte{{1}}},
		"no vanilla": {Statement: wire.Statement{Kind: wire.KindPoRep}},
		"empty":      {Statement: wire.Statement{Kind: wire.KindPoRep}, Vanilla: [][]byte{{1}, {}}},
		"too many":   {Statement: wire.Statement{Kind: wire.KindWindowPoSt}, Vanilla: slices.Repeat([][]byte{make([]byte, 1<<10)}, wire.MaxInputs+1)},
		"label":      {Statement: wire.Statement{Kind: wire.KindPoRep}, Label: "a\nb", Vanilla: [][]byte{make([]byte, 1<<20)}},
		"priority":   {Statement: wire.Statement{Kind: wire.KindPoRep}, Priority: 9, Vanilla: [][]byte{make([]byte, 1<<20)}},
		"too large":  {Statement: wire.Statement{Kind: wire.KindPoRep}, Vanilla: slices.Repeat([][]byte{make([]byte, 1<<20)}, 1025)},
	} {
		if _, err := c.Submit(within(t), r); wire.ClassOf(err) != wire.Terminal {
			t.Errorf("%s: %v", name, err)
		}
	}
	inputs, err := c.inputs.Collect(within(t), 0, nil)
	if err != nil || inputs != 0 {
		t.Errorf("%d objects were stored for requests that nobody takes, %v", inputs, err)
	}
	if _, err := c.Result(within(t), (&Request{}).ID()); !errors.Is(err, wire.CodeNoSuchJob) {
		t.Errorf("a result that is not there: %v", err)
	}
}

// Who reaches no server is told why, not only that the time is over.
func TestDialSaysWhy(t *testing.T) {
	for url, want := range map[string]string{"nats://127.0.0.1:1": "connection refused", "nats://none.invalid:4222": "none.invalid"} {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		_, err := Dial(ctx, Config{URL: url})
		cancel()
		if !errors.Is(err, wire.CodeStoreUnavailable) || !strings.Contains(strings.TrimPrefix(err.Error(), "nats server "+url), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
}
