package telemetry

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Defaults of [RecorderLimits].
const (
	DefaultMaxTraces        = 64
	DefaultMaxSpansPerTrace = 4096
)

// RecorderLimits bounds what a [Recorder] keeps. A zero field means its default.
type RecorderLimits struct {
	// MaxTraces is the number of traces kept; the one that began first leaves first.
	MaxTraces int
	// MaxSpansPerTrace is the number of spans kept of each trace; later ones are counted and dropped.
	MaxSpansPerTrace int
}

// Span is a finished span, copied out of the SDK. Readers must not change its slices: they are shared.
type Span struct {
	TraceID    trace.TraceID
	ID         trace.SpanID
	Parent     trace.SpanID // zero where the span has no parent
	Name       string
	Kind       trace.SpanKind
	Start      time.Time
	End        time.Time
	Failed     bool
	Error      string // the status description of a failed span
	Attributes []attribute.KeyValue
	Events     []sdktrace.Event
}

// Duration is the time from start to end.
func (s *Span) Duration() time.Duration { return s.End.Sub(s.Start) }

// Attribute gives the value under key, and whether there is one.
func (s *Span) Attribute(key attribute.Key) (attribute.Value, bool) {
	for _, kv := range s.Attributes {
		if kv.Key == key {
			return kv.Value, true
		}
	}
	return attribute.Value{}, false
}

// Recorder is a span processor that keeps the finished spans of recent traces in memory. It holds only spans of this
// process: what other services did is in the collector.
type Recorder struct {
	limits RecorderLimits

	mu      sync.Mutex
	traces  map[trace.TraceID][]Span
	order   []trace.TraceID // by the first finished span
	dropped int64
}

var _ sdktrace.SpanProcessor = (*Recorder)(nil)

// NewRecorder gives an empty recorder.
func NewRecorder(limits RecorderLimits) *Recorder {
	if limits.MaxTraces <= 0 {
		limits.MaxTraces = DefaultMaxTraces
	}
	if limits.MaxSpansPerTrace <= 0 {
		limits.MaxSpansPerTrace = DefaultMaxSpansPerTrace
	}
	return &Recorder{limits: limits, traces: make(map[trace.TraceID][]Span)}
}

// OnStart implements the span processor; only finished spans are kept.
func (r *Recorder) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd keeps a copy of the span, if there is room in its trace.
func (r *Recorder) OnEnd(s sdktrace.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	span := copySpan(s)
	r.mu.Lock()
	defer r.mu.Unlock()
	spans, known := r.traces[span.TraceID]
	if !known {
		if len(r.order) == r.limits.MaxTraces {
			delete(r.traces, r.order[0])
			r.order = slices.Delete(r.order, 0, 1)
		}
		r.order = append(r.order, span.TraceID)
	}
	if len(spans) == r.limits.MaxSpansPerTrace {
		r.dropped++
		return
	}
	r.traces[span.TraceID] = append(spans, span)
}

func copySpan(s sdktrace.ReadOnlySpan) Span {
	status := s.Status()
	return Span{
		TraceID:    s.SpanContext().TraceID(),
		ID:         s.SpanContext().SpanID(),
		Parent:     s.Parent().SpanID(),
		Name:       s.Name(),
		Kind:       s.SpanKind(),
		Start:      s.StartTime(),
		End:        s.EndTime(),
		Failed:     status.Code == codes.Error,
		Error:      status.Description,
		Attributes: s.Attributes(),
		Events:     s.Events(),
	}
}

// Spans gives the kept spans of a trace in the order in which they finished; none where the trace is not known.
func (r *Recorder) Spans(id trace.TraceID) []Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.traces[id])
}

// Traces gives the ids of the kept traces, oldest first.
func (r *Recorder) Traces() []trace.TraceID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.order)
}

// Dropped counts the spans for which a trace had no room left.
func (r *Recorder) Dropped() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dropped
}

// Shutdown implements the span processor. The spans stay readable.
func (r *Recorder) Shutdown(context.Context) error { return nil }

// ForceFlush implements the span processor; there is nothing to send.
func (r *Recorder) ForceFlush(context.Context) error { return nil }
