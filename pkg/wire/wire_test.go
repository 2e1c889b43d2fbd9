package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"
	"pgregory.net/rapid"
)

func TestContentID(t *testing.T) {
	base := func() *Request {
		r := *sampleMessages()["request"].(*Request)
		r.Inputs.List = slices.Clone(r.Inputs.List)
		return &r
	}
	id := base().Key().ID
	// Another implementation of the hash must give this for the golden request.
	if want := JobID("3726e857311925e6b813162d1e1cc5c430bea868b555f2e1e09eedf5f8e9cf18"); id != want {
		t.Errorf("identity of the golden request is %s, want %s", id, want)
	}
	same := map[string]func(*Request){
		"label":       func(r *Request) { r.Label = "another" },
		"priority":    func(r *Request) { r.Priority = Critical },
		"deadline":    func(r *Request) { r.Deadline = 0 },
		"run":         func(r *Request) { r.Run = 9 },
		"sector size": func(r *Request) { r.Statement.SectorSize = 0 },
		"placement":   func(r *Request) { r.Inputs.List[0].Inline, r.Inputs.List[0].Object = nil, 1 },
	}
	for name, change := range same {
		r := base()
		change(r)
		if r.Key().ID != id {
			t.Errorf("%s changes the identity", name)
		}
	}
	other := map[string]func(*Request){
		"kind":       func(r *Request) { r.Statement.Kind = KindPoRep },
		"proof":      func(r *Request) { r.Statement.RegisteredProof++ },
		"miner":      func(r *Request) { r.Statement.Miner++ },
		"sector":     func(r *Request) { r.Statement.Sector++ },
		"partition":  func(r *Request) { r.Statement.PartitionIndex++ },
		"randomness": func(r *Request) { r.Statement.Randomness[31]++ },
		"comm_r_old": func(r *Request) { r.Statement.CommROld[0]++ },
		"comm_r_new": func(r *Request) { r.Statement.CommRNew[0]++ },
		"comm_d_new": func(r *Request) { r.Statement.CommDNew[0]++ },
		"input":      func(r *Request) { r.Inputs.List[0].SHA256[0]++ },
		"input size": func(r *Request) { r.Inputs.List[0].Size++ },
		"order":      func(r *Request) { slices.Reverse(r.Inputs.List) },
		"fewer":      func(r *Request) { r.Inputs.List = r.Inputs.List[:1] },
	}
	seen := map[JobID]string{id: "the base"}
	for name, change := range other {
		r := base()
		change(r)
		if first, ok := seen[r.Key().ID]; ok {
			t.Errorf("%s has the identity of %s", name, first)
		}
		seen[r.Key().ID] = name
	}
}

func TestSubjectsRoundTrip(t *testing.T) {
	names, err := NewNames("px9")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		task := Task{
			JobKey:    JobKey{Account: rapid.StringMatching(`[a-zA-Z0-9_-]{1,20}`).Draw(t, "account"), ID: JobID(strings.Repeat("ab", 32))},
			Circuit:   rapid.StringMatching(`[a-z]{1,8}-[0-9]{1,3}[kmg]`).Draw(t, "circuit"),
			Partition: rapid.Uint32Range(0, MaxPartitions-1).Draw(t, "partition"),
			Priority:  rapid.SampledFrom(Priorities()).Draw(t, "priority"),
		}
		lane := rapid.SampledFrom(Lanes()).Draw(t, "lane")
		for _, w := range []Work{WorkSynth, WorkProve, WorkDone} {
			a, err := names.ParseWork(names.Task(w, &task, lane))
			if err != nil {
				t.Fatal(err)
			}
			want := Address{Work: w, Priority: task.Priority, Key: task.JobKey, Partition: task.Partition}
			if w.PerCircuit() {
				want.Lane, want.Circuit = lane, task.Circuit
			}
			if a != want {
				t.Fatalf("got %+v, want %+v", a, want)
			}
			if dead, err := names.ParseKey(names.Dead(w, task.JobKey)); err != nil || dead != task.JobKey {
				t.Fatalf("dead letter subject: %v, %v", dead, err)
			}
		}
	})
	for _, s := range []string{"", "px9", "px9.req", "pm.req.low.main." + strings.Repeat("ab", 32), "px9.prove.low.now.c.main.xyz.0",
		"px9.done.low.main." + strings.Repeat("ab", 32) + ".99999"} {
		if _, err := names.ParseWork(s); !errors.Is(err, CodeBadMessage) {
			t.Errorf("%q: got %v", s, err)
		}
	}
}

// FuzzParseWork checks that only subjects that Names makes are read.
func FuzzParseWork(f *testing.F) {
	var names Names
	id := strings.Repeat("0f", 32)
	for _, s := range []string{"pm.req.low.main." + id, "pm.done.high.main." + id + ".3", "pm.prove.critical.now.winning-2k.main." + id + ".0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, subject string) {
		a, err := names.ParseWork(subject)
		if err != nil {
			return
		}
		task := Task{JobKey: a.Key, Circuit: a.Circuit, Partition: a.Partition, Priority: a.Priority}
		again := names.Request(a.Priority, a.Key)
		if a.Work != WorkRequests {
			again = names.Task(a.Work, &task, a.Lane)
		}
		if b, err := names.ParseWork(again); err != nil || a != b {
			t.Fatalf("%q is read as %+v, written as %q and read as %+v, %v", subject, a, again, b, err)
		}
	})
}

func TestLaneOf(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	for _, c := range []struct {
		slack time.Duration
		want  Lane
	}{{-time.Second, LaneNow}, {LaneNowSlack, LaneNow}, {LaneNowSlack + time.Second, LaneSoon}, {LaneSoonSlack + time.Second, LaneLater}} {
		if got := LaneOf(MillisOf(now.Add(c.slack)), now); got != c.want {
			t.Errorf("slack %s: lane %s, want %s", c.slack, got, c.want)
		}
	}
	if LaneOf(0, now) != LaneLater {
		t.Error("work without a deadline is not in the last lane")
	}
}

// TestErrorTable pins numbers, names and classes: a line of the golden file never changes, lines are only added.
func TestErrorTable(t *testing.T) {
	var b strings.Builder
	names := map[string]bool{}
	var last Code
	for _, e := range Table() {
		fmt.Fprintf(&b, "%d %s %s\n", e.Code, e.Name, e.Class)
		if names[e.Name] || e.Code <= last || Class(e.Code/1000) != e.Class || e.Text == "" || e.Do == "" {
			t.Errorf("entry %+v: repeated, out of order, wrongly classed or without text", e)
		}
		names[e.Name], last = true, e.Code
	}
	if *update {
		if err := os.WriteFile("testdata/errors.txt", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the table differs from testdata/errors.txt:\n%s", b.String())
	}
}

func TestErrorChain(t *testing.T) {
	inner := errors.New("disk on fire")
	err := fmt.Errorf("blob b.1: %w", Errorf(CodeStorageFull, "bucket PM_BLOBS: %w", inner))
	if !errors.Is(err, CodeStorageFull) || errors.Is(err, CodeBusy) || !errors.Is(err, inner) {
		t.Error("codes or causes are not found in the chain")
	}
	var e *Error
	if !errors.As(err, &e) || e.Class != Transient {
		t.Errorf("As gave %+v", e)
	}
	if got := AsError(err); got.Code != CodeStorageFull || !strings.HasPrefix(got.Message, "blob b.1: bucket PM_BLOBS: disk on fire") {
		t.Errorf("AsError gave %+v", got)
	}
	if two := Errorf(CodeTimeout, "%w and %w", inner, CodeBusy); !errors.Is(two, inner) || !errors.Is(two, CodeBusy) || !errors.Is(two, CodeTimeout) {
		t.Error("several causes are not all found")
	}
	if AsError(nil) != nil || ClassOf(nil) != 0 || ClassOf(inner) != Transient || Code(3999).Class() != WorkerGone {
		t.Error("classes of nil, foreign and unknown errors")
	}
	long := Errorf(CodeInternal, "%s", strings.Repeat("é", MaxErrorBytes))
	if err := long.validate(); err != nil {
		t.Errorf("a long text is not cut to what fits: %v", err)
	}
}

func TestHeaderCarrier(t *testing.T) {
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
	ctx := trace.ContextWithSpanContext(context.Background(), span)
	header := map[string][]string{"Traceparent": {"stale"}}
	Inject(ctx, header)
	if len(header["traceparent"]) != 1 || len(header) != 1 {
		t.Fatalf("header after Inject: %v", header)
	}
	for _, key := range []string{"traceparent", "Traceparent", "TRACEPARENT", "traceParent"} {
		got := trace.SpanContextFromContext(Extract(context.Background(), map[string][]string{key: header["traceparent"]}))
		if got.TraceID() != span.TraceID() || got.SpanID() != span.SpanID() || !got.IsRemote() {
			t.Errorf("%s: got %+v", key, got)
		}
	}
	if got := trace.SpanContextFromContext(ExtractMap(context.Background(), InjectMap(ctx))); got.TraceID() != span.TraceID() {
		t.Errorf("through a map: got %+v", got)
	}
	if InjectMap(context.Background()) != nil {
		t.Error("a context without a span gives a map")
	}
}

func TestCheckEdge(t *testing.T) {
	record := func(state JobState, parts ...PartitionState) *JobRecord {
		r := &JobRecord{JobKey: JobKey{Account: "main"}, Run: 1, State: state}
		for _, p := range parts {
			r.Partitions = append(r.Partitions, PartitionRecord{State: p, Attempt: 1})
		}
		return r
	}
	all := []JobState{JobQueued, JobRunning, JobCompleted, JobFailed, JobCancelled, JobExpired}
	for _, from := range all {
		for _, to := range all {
			same := from == to
			forward := !from.Ended() && to > from
			err := CheckEdge(record(from, PartitionVerified), record(to, PartitionVerified))
			if (err == nil) != (same || forward) {
				t.Errorf("%s to %s in one run: %v", from, to, err)
			}
			next := record(to, PartitionQueued)
			next.Run = 2
			if err := CheckEdge(record(from, PartitionVerified), next); (err == nil) != (from.Ended() && to == JobQueued) {
				t.Errorf("%s to %s of the next run: %v", from, to, err)
			}
		}
	}
	for from := PartitionQueued; from <= PartitionVerified; from++ {
		for to := PartitionQueued; to <= PartitionVerified; to++ {
			if err := CheckEdge(record(JobRunning, from), record(JobRunning, to)); (err == nil) != (to >= from) {
				t.Errorf("partition %s to %s in one attempt: %v", from, to, err)
			}
			next := record(JobRunning, to)
			next.Partitions[0].Attempt = 2
			if err := CheckEdge(record(JobRunning, from), next); (err == nil) != (from != PartitionVerified) {
				t.Errorf("partition %s to %s of the next attempt: %v", from, to, err)
			}
		}
	}
	if err := CheckEdge(record(JobRunning, PartitionVerified, PartitionProving), record(JobCompleted, PartitionVerified, PartitionProving)); err == nil {
		t.Error("a job with an unverified partition was completed")
	}
}
