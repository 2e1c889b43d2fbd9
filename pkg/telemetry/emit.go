package telemetry

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Completed is a span that is made when it has ended already: stages timed elsewhere, and spans that outlive the process
// that began them, such as that of a whole request.
type Completed struct {
	Name       string
	Kind       trace.SpanKind // zero: internal
	Start, End time.Time
	// ID, where set, becomes the span's own id, so that its children can be made before it. It needs a provider of [Start].
	ID         trace.SpanID
	Attributes []attribute.KeyValue
	Links      []trace.Link
	Err        error // marks the span as failed
}

// Emit makes the span as a child of the one in ctx and gives its context.
func (c *Completed) Emit(ctx context.Context, tracer trace.Tracer) trace.SpanContext {
	if c.ID.IsValid() {
		ctx = context.WithValue(ctx, spanIDKey{}, c.ID)
	}
	_, span := tracer.Start(ctx, c.Name,
		trace.WithTimestamp(c.Start), trace.WithAttributes(c.Attributes...), trace.WithLinks(c.Links...), trace.WithSpanKind(c.Kind))
	if c.Err != nil {
		span.SetStatus(codes.Error, c.Err.Error())
	}
	span.End(trace.WithTimestamp(c.End))
	return span.SpanContext()
}

// DerivedSpanID is an id that several processes compute alike from what the span is about, without talking to each other.
func DerivedSpanID(of trace.TraceID, about string) trace.SpanID {
	sum := sha256.Sum256(append(of[:], about...))
	var id trace.SpanID
	copy(id[:], sum[:])
	id[0] |= 1 // zero is no id
	return id
}

// WithRemoteSpan gives a context whose span is the one with the id in the trace of ctx; without a trace it is ctx itself.
func WithRemoteSpan(ctx context.Context, id trace.SpanID) context.Context {
	parent := trace.SpanContextFromContext(ctx)
	if !parent.HasTraceID() {
		return ctx
	}
	return trace.ContextWithRemoteSpanContext(ctx, parent.WithSpanID(id))
}

type (
	spanIDKey  struct{}
	traceIDKey struct{}
)

// WithTraceID lets the next root span that is started with the context have this trace id.
func WithTraceID(ctx context.Context, id trace.TraceID) context.Context {
	return context.WithValue(ctx, traceIDKey{}, id)
}

// idGenerator draws random ids unless the context of the span asks for one.
type idGenerator struct{}

// NewIDs implements the SDK's generator, for root spans.
func (g idGenerator) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	id, ok := ctx.Value(traceIDKey{}).(trace.TraceID)
	for !ok || !id.IsValid() {
		_, _ = rand.Read(id[:]) // it never fails
		ok = true
	}
	return id, g.NewSpanID(ctx, id)
}

// NewSpanID implements the SDK's generator, for spans with a parent.
func (idGenerator) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	id, ok := ctx.Value(spanIDKey{}).(trace.SpanID)
	for !ok || !id.IsValid() {
		_, _ = rand.Read(id[:]) // it never fails
		ok = true
	}
	return id
}
