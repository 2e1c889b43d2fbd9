package services_test

import (
	"slices"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/proofmill/proofmill/pkg/telemetry"
	"github.com/proofmill/proofmill/pkg/wire"
)

// spansOf waits until the request's span is there, which is made last, and gives all spans of the trace.
func (f *fleet) spansOf(key wire.JobKey) []telemetry.Span {
	f.t.Helper()
	recorder := f.telemetry.Recorder()
	var found []telemetry.Span
	eventually(f.t, "span of the request", func() bool {
		for _, id := range recorder.Traces() {
			spans := recorder.Spans(id)
			if slices.ContainsFunc(spans, func(s telemetry.Span) bool {
				job, ok := s.Attribute(telemetry.JobKey)
				return s.Name == "request" && ok && job.AsString() == string(key.ID)
			}) {
				found = spans
				return true
			}
		}
		return false
	})
	return found
}

// tree checks that there is one root and that every parent is there, and gives the names of each span's children.
func tree(t *testing.T, spans []telemetry.Span, root trace.SpanID) (top telemetry.Span, children func(s telemetry.Span, name string) []telemetry.Span) {
	t.Helper()
	known := map[trace.SpanID]telemetry.Span{}
	for _, s := range spans {
		if other, ok := known[s.ID]; ok {
			t.Errorf("spans %s and %s have the same id", s.Name, other.Name)
		}
		known[s.ID] = s
	}
	roots := 0
	for _, s := range spans {
		switch parent, ok := known[s.Parent]; {
		case s.Parent == root:
			roots++
			top = s
		case !ok:
			t.Errorf("span %s has a parent that is not there", s.Name)
		case s.Start.Before(parent.Start.Add(-2e6)) || s.End.After(parent.End.Add(2e6)): // clocks of message times are whole milliseconds
			t.Errorf("span %s (%v to %v) is not inside %s (%v to %v)", s.Name, s.Start, s.End, parent.Name, parent.Start, parent.End)
		}
	}
	if roots != 1 || top.Name != "request" {
		t.Fatalf("%d roots, the last is %s", roots, top.Name)
	}
	return top, func(s telemetry.Span, name string) []telemetry.Span {
		var all []telemetry.Span
		for _, c := range spans {
			if c.Parent == s.ID && c.Name == name {
				all = append(all, c)
			}
		}
		return all
	}
}

// A request makes one trace, whatever processes it went through, and continues that of its caller.
func TestTrace(t *testing.T) {
	f := newFleet(t, keysOnly(t, window))
	f.gateway("gateway-1")
	f.prover("prove-1", newDouble(t, nil, window))
	f.synth()
	for _, called := range []bool{false, true} {
		r := readFixture(t, window).request(t)
		ctx, caller := t.Context(), trace.SpanContext{}
		if called {
			r.Statement.Randomness[0] ^= 1 // another job, for whose challenges these are no proofs
			var span trace.Span
			ctx, span = f.telemetry.TracerProvider().Tracer("test").Start(ctx, "caller")
			caller = span.SpanContext()
			span.End()
		}
		if _, err := f.client.PublishRequest(ctx, r); err != nil {
			t.Fatal(err)
		}
		result := f.result(r.Key(), 1)
		spans := f.spansOf(r.Key())
		if called {
			if spans[0].TraceID != caller.TraceID() {
				t.Error("the caller's trace is not continued")
			}
			spans = slices.DeleteFunc(spans, func(s telemetry.Span) bool { return s.Name == "caller" })
			if top, _ := tree(t, spans, caller.SpanID()); !top.Failed || top.Error == "" {
				t.Errorf("the request's span says nothing of its end: %+v", top)
			}
			continue
		}
		f.verified(r, result, window)
		top, children := tree(t, spans, trace.SpanID{})
		for _, name := range []string{"admit", "result"} {
			if n := len(children(top, name)); n != 1 {
				t.Errorf("%d spans %s", n, name)
			}
		}
		partitions := children(top, "partition")
		if len(partitions) != 2 {
			t.Fatalf("%d partitions", len(partitions))
		}
		for _, p := range partitions {
			if n := len(children(p, "queue")); n != 3 {
				t.Errorf("%d waits in queues", n)
			}
			for name, stages := range map[string][]string{
				"synth": {"decode", "check", "witness", "store"}, "prove": {"fetch", "msm_h"}, "verify": nil,
			} {
				work := children(p, name)
				if len(work) != 1 {
					t.Errorf("%d spans %s", len(work), name)
					continue
				}
				for _, stage := range stages {
					if n := len(children(work[0], stage)); n != 1 {
						t.Errorf("%s has %d spans %s", name, n, stage)
					}
				}
			}
		}
	}
}
