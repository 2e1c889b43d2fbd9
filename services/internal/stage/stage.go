package stage

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/telemetry"
	"github.com/proofmill/proofmill/pkg/wire"
)

// Scope is the name of the services' tracer and meter.
const Scope = "github.com/proofmill/proofmill/services"

// Names of spans that are no stage of one worker.
const (
	Request   = "request"
	Partition = "partition"
	Queue     = "queue"
	Verify    = "verify"
	Result    = "result"
)

// Timer makes the spans and durations of one service. It may be used by any number of goroutines.
type Timer struct {
	Tracer  trace.Tracer
	service string
	worker  string
	stages  metric.Float64Histogram
	waits   metric.Float64Histogram
}

// NewTimer makes the instruments of a service whose process has the worker's name.
func NewTimer(tracers trace.TracerProvider, meters metric.MeterProvider, service, worker string) (*Timer, error) {
	meter := meters.Meter(Scope)
	stages, err := meter.Float64Histogram("proofmill.stage.duration", metric.WithUnit("s"), metric.WithDescription("Time of a stage of one partition"))
	if err != nil {
		return nil, fmt.Errorf("metric: %w", err)
	}
	waits, err := meter.Float64Histogram("proofmill.queue.duration", metric.WithUnit("s"), metric.WithDescription("Time of a message in its queue"))
	if err != nil {
		return nil, fmt.Errorf("metric: %w", err)
	}
	return &Timer{Tracer: tracers.Tracer(Scope), service: service, worker: worker, stages: stages, waits: waits}, nil
}

// PartitionID is the id of a partition's span in the trace of its request.
func PartitionID(of trace.TraceID, key wire.JobKey, run, partition uint32) trace.SpanID {
	return telemetry.DerivedSpanID(of, fmt.Sprintf("%s/%d/%d", key, run, partition))
}

// UnderPartition gives a context whose spans are children of the partition's. Messages travel with the span of their request, in
// whose context ctx is; that of the partition follows from it.
func UnderPartition(ctx context.Context, t *wire.Task) context.Context {
	id := PartitionID(trace.SpanContextFromContext(ctx).TraceID(), t.JobKey, t.Run, t.Partition)
	return telemetry.WithRemoteSpan(ctx, id)
}

// TaskAttributes say which partition a span is about.
func TaskAttributes(t *wire.Task) []attribute.KeyValue {
	return []attribute.KeyValue{
		telemetry.JobKey.String(string(t.ID)),
		telemetry.KindKey.String(t.Kind.String()),
		telemetry.CircuitKey.String(t.Circuit),
		telemetry.PartitionKey.Int64(int64(t.Partition)),
		telemetry.AttemptKey.Int64(int64(t.Attempt)),
		telemetry.PriorityKey.String(t.Priority.String()),
	}
}

// Queued makes the span of the message's wait, which ends now.
func (t *Timer) Queued(ctx context.Context, d *bus.Delivery, task *wire.Task) {
	now := time.Now()
	start := d.Stored
	if start.After(now) { // the server's clock is ahead
		start = now
	}
	t.waits.Record(ctx, now.Sub(start).Seconds(), metric.WithAttributes(attribute.String("queue", string(d.Address.Work)), telemetry.CircuitKey.String(task.Circuit)))
	attributes := append(TaskAttributes(task),
		telemetry.MessagingSystemKey.String(telemetry.MessagingSystem),
		attribute.String("proofmill.queue", string(d.Address.Work)),
		attribute.Int("proofmill.delivery", d.Delivered))
	(&telemetry.Completed{Name: Queue, Kind: trace.SpanKindConsumer, Start: start, End: now, Attributes: attributes}).Emit(ctx, t.Tracer)
}

// Work is the timed work of one worker on one partition. Its stages may be added by several goroutines.
type Work struct {
	timer   *Timer
	span    trace.Span
	ctx     context.Context
	circuit string

	mu     sync.Mutex
	stages []wire.Stage
}

// Begin starts the work's span under the partition's, which ctx carries. End it.
func (t *Timer) Begin(ctx context.Context, name string, task *wire.Task, attributes ...attribute.KeyValue) (context.Context, *Work) {
	attributes = append(append(TaskAttributes(task), telemetry.WorkerKey.String(t.worker)), attributes...)
	ctx, span := t.Tracer.Start(ctx, name, trace.WithAttributes(attributes...)) //nolint:spancheck // Work.End ends it
	return ctx, &Work{timer: t, span: span, ctx: ctx, circuit: task.Circuit}    //nolint:spancheck // Work.End ends it
}

// Do runs a stage.
func (w *Work) Do(ctx context.Context, name string, run func(ctx context.Context) error) error {
	start := time.Now()
	ctx, span := w.timer.Tracer.Start(ctx, name)
	err := run(ctx)
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
	w.note(name, start, time.Since(start))
	return err
}

// Add notes a stage that was timed elsewhere.
func (w *Work) Add(name string, start time.Time, took time.Duration) {
	(&telemetry.Completed{Name: name, Start: start, End: start.Add(took)}).Emit(w.ctx, w.timer.Tracer)
	w.note(name, start, took)
}

func (w *Work) note(name string, start time.Time, took time.Duration) {
	w.timer.stages.Record(w.ctx, took.Seconds(), metric.WithAttributes(
		attribute.String("service", w.timer.service), attribute.String("stage", name), telemetry.CircuitKey.String(w.circuit)))
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.stages) < wire.MaxStages/2 {
		w.stages = append(w.stages, wire.Stage{Name: name, Start: start.UnixMicro(), Micros: took.Microseconds()})
	}
}

// Set adds attributes to the work's span.
func (w *Work) Set(attributes ...attribute.KeyValue) { w.span.SetAttributes(attributes...) }

// Stages are those so far, in the order in which they ended.
func (w *Work) Stages() []wire.Stage {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]wire.Stage(nil), w.stages...)
}

// End ends the span; an error marks it as failed.
func (w *Work) End(err error) {
	if err != nil {
		w.span.SetStatus(codes.Error, err.Error())
		w.span.SetAttributes(telemetry.ErrorTypeKey.String(wire.ClassOf(err).String()))
	}
	w.span.End()
}
