package telemetry

import (
	"errors"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// A request's span gets the id under which its partitions were made before it, in the trace of the caller or in one of its own.
func TestEmitKeepsChosenIDs(t *testing.T) {
	tel, err := Start(t.Context(), Config{Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer tel.Shutdown(t.Context())
	tracer := tel.TracerProvider().Tracer("test")
	start := time.Now().Add(-time.Second)

	// The ids of a root come from a span that is never ended.
	rootCtx, open := tracer.Start(t.Context(), "request")
	root := open.SpanContext()
	partition := DerivedSpanID(root.TraceID(), "partition 3")
	if partition != DerivedSpanID(root.TraceID(), "partition 3") || partition == DerivedSpanID(root.TraceID(), "partition 4") {
		t.Fatal("derived ids do not follow what they are about")
	}
	stage := (&Completed{Name: "stage", Start: start, End: start.Add(time.Millisecond)}).Emit(WithRemoteSpan(rootCtx, partition), tracer)
	(&Completed{Name: "partition", ID: partition, Start: start, End: time.Now(), Err: errors.New("late")}).Emit(rootCtx, tracer)
	(&Completed{Name: "request", ID: root.SpanID(), Start: start, End: time.Now()}).Emit(WithTraceID(t.Context(), root.TraceID()), tracer)

	spans := map[string]Span{}
	for _, s := range tel.Recorder().Spans(root.TraceID()) {
		spans[s.Name] = s
	}
	if len(spans) != 3 {
		t.Fatalf("%d spans in the trace, want 3", len(spans))
	}
	if s := spans["request"]; s.ID != root.SpanID() || s.Parent.IsValid() || !s.Start.Equal(start) {
		t.Errorf("request: %+v", s)
	}
	if s := spans["partition"]; s.ID != partition || s.Parent != root.SpanID() || !s.Failed {
		t.Errorf("partition: %+v", s)
	}
	if s := spans["stage"]; s.ID != stage.SpanID() || s.Parent != partition || s.Duration() != time.Millisecond {
		t.Errorf("stage: %+v", s)
	}
	if ctx := WithRemoteSpan(t.Context(), partition); trace.SpanContextFromContext(ctx).IsValid() {
		t.Error("a span without a trace")
	}
}
