package gateway

import (
	"context"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/proofmill/proofmill/pkg/telemetry"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/services/internal/stage"
)

// Entries of a record's trace context beside those of its propagation.
const (
	callerKey   = "proofmill-caller"   // the span of the caller, under which the request's span belongs
	admittedKey = "proofmill-admitted" // when the partitions' spans begin, in Unix milliseconds
)

// beginTrace fixes the ids of a request's span and gives a context under it. The span is not made yet: conclude does, in whatever
// process the request ends, by what the record says.
func (s *Service) beginTrace(ctx context.Context) (context.Context, map[string]string) {
	caller := trace.SpanContextFromContext(ctx)
	_, open := s.host.Timer.Tracer.Start(ctx, stage.Request) // draws ids and asks the sampler; never ended, so never exported
	ctx = trace.ContextWithRemoteSpanContext(ctx, open.SpanContext())
	kept := wire.InjectMap(ctx)
	if kept != nil && caller.HasSpanID() {
		kept[callerKey] = caller.SpanID().String()
	}
	return ctx, kept
}

// markAdmitted notes when the job was admitted.
func markAdmitted(kept map[string]string, at wire.Millis) {
	if kept != nil {
		kept[admittedKey] = strconv.FormatInt(int64(at), 10)
	}
}

// admittedAt is when the job was admitted.
func admittedAt(record *wire.JobRecord) time.Time {
	at, err := strconv.ParseInt(record.Trace[admittedKey], 10, 64)
	if err != nil {
		return record.Submitted.Time()
	}
	return wire.Millis(at).Time()
}

// underRequest gives a context whose spans are children of the request's.
func underRequest(ctx context.Context, record *wire.JobRecord) context.Context {
	return wire.ExtractMap(trace.ContextWithSpanContext(ctx, trace.SpanContext{}), record.Trace)
}

// endTrace makes the span of the request, and those of partitions that were not verified.
func (s *Service) endTrace(ctx context.Context, record *wire.JobRecord, result *wire.Result) {
	request := trace.SpanContextFromContext(underRequest(ctx, record))
	if !request.IsValid() {
		return
	}
	end := time.Now()
	for k := range record.Partitions {
		if record.Partitions[k].State != wire.PartitionVerified {
			s.endPartition(ctx, record, k, end, result.Err())
		}
	}
	parent := trace.ContextWithSpanContext(ctx, trace.SpanContext{})
	if caller, err := trace.SpanIDFromHex(record.Trace[callerKey]); err == nil {
		parent = trace.ContextWithRemoteSpanContext(ctx, request.WithSpanID(caller))
	} else {
		parent = telemetry.WithTraceID(parent, request.TraceID())
	}
	attributes := []attribute.KeyValue{
		telemetry.JobKey.String(string(record.ID)),
		telemetry.KindKey.String(record.Statement.Kind.String()),
		telemetry.CircuitKey.String(record.Circuit),
		telemetry.PriorityKey.String(record.Priority.String()),
		attribute.String("proofmill.account", record.Account),
		attribute.String("proofmill.label", record.Label),
		attribute.Int64("proofmill.run", int64(record.Run)),
		attribute.Int("proofmill.partitions", len(record.Partitions)),
		attribute.String("proofmill.status", result.Status.String()),
	}
	if record.Deadline != 0 {
		attributes = append(attributes, telemetry.DeadlineKey.String(record.Deadline.Time().UTC().Format(time.RFC3339Nano)))
	}
	(&telemetry.Completed{
		Name: stage.Request, Kind: trace.SpanKindServer, ID: request.SpanID(), Start: record.Submitted.Time(), End: end,
		Attributes: attributes, Err: result.Err(),
	}).Emit(parent, s.host.Timer.Tracer)
}

// endPartition makes the span of a partition with all its attempts.
func (s *Service) endPartition(ctx context.Context, record *wire.JobRecord, k int, end time.Time, err error) {
	ctx = underRequest(ctx, record)
	task := taskOf(record, k)
	(&telemetry.Completed{
		Name: stage.Partition, ID: stage.PartitionID(trace.SpanContextFromContext(ctx).TraceID(), task.JobKey, task.Run, task.Partition),
		Start: admittedAt(record), End: end, Attributes: stage.TaskAttributes(task), Err: err,
	}).Emit(ctx, s.host.Timer.Tracer)
}
