package main

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/proofmill/proofmill/pkg/telemetry"
	"github.com/proofmill/proofmill/pkg/wire"
)

// resultSpans draws a result's timings as the spans of a trace: what the client of a fleet knows of it without asking a
// collector. Times are those of the workers' clocks.
func resultSpans(r *wire.Result) []telemetry.Span {
	b := spanBuilder{}
	root := b.add(trace.SpanID{}, "request", r.Submitted.Time(), r.Finished.Time())
	if r.Error != nil {
		b.spans[0].Failed, b.spans[0].Error = true, r.Error.Message
	}
	for _, s := range r.Stages {
		b.stage(root, s)
	}
	for _, p := range r.Partitions {
		if len(p.Stages) == 0 {
			continue
		}
		stages := slices.SortedFunc(slices.Values(p.Stages), func(a, b wire.Stage) int { return cmp.Compare(a.Start, b.Start) })
		last := slices.MaxFunc(stages, func(a, b wire.Stage) int { return cmp.Compare(a.Start+a.Micros, b.Start+b.Micros) })
		part := b.add(root, "partition "+strconv.FormatUint(uint64(p.Partition), 10),
			time.UnixMicro(stages[0].Start), time.UnixMicro(last.Start+last.Micros),
			telemetry.AttemptKey.Int64(int64(p.Attempt)), telemetry.WorkerKey.String(p.ProveWorker))
		for _, s := range stages {
			b.stage(part, s)
		}
	}
	return b.spans
}

type spanBuilder struct {
	spans []telemetry.Span
}

func (b *spanBuilder) add(parent trace.SpanID, name string, start, end time.Time, attributes ...attribute.KeyValue) trace.SpanID {
	n := len(b.spans) + 1
	id := trace.SpanID{byte(n >> 16), byte(n >> 8), byte(n)} //nolint:gosec // far fewer
	b.spans = append(b.spans, telemetry.Span{ID: id, Parent: parent, Name: name, Start: start, End: end, Attributes: attributes})
	return id
}

func (b *spanBuilder) stage(parent trace.SpanID, s wire.Stage) {
	start := time.UnixMicro(s.Start)
	b.add(parent, s.Name, start, start.Add(time.Duration(s.Micros)*time.Microsecond))
}
