package telemetry

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Values of OTEL_EXPORTER_OTLP_PROTOCOL and OTEL_TRACES_EXPORTER.
const (
	protocolGRPC = "grpc"
	protocolHTTP = "http/protobuf"
	exporterOTLP = "otlp"
	exporterNone = "none"
)

// environment reads OTEL_* variables; an empty one counts as not set, as the specification says.
type environment func(string) string

func (e environment) first(names ...string) (name, value string) {
	for _, name := range names {
		if value := strings.TrimSpace(e(name)); value != "" {
			return name, value
		}
	}
	return "", ""
}

// disabled reports whether OTEL_SDK_DISABLED switches all of OpenTelemetry off.
func (e environment) disabled() bool {
	_, value := e.first("OTEL_SDK_DISABLED")
	return strings.EqualFold(value, "true")
}

// newExporter gives the span exporter that the environment asks for, or nil where it names no endpoint. It does not
// connect: an unreachable collector shows only as spans that are counted as lost.
func newExporter(ctx context.Context, env environment) (sdktrace.SpanExporter, error) {
	name, value := env.first("OTEL_TRACES_EXPORTER")
	switch value {
	case exporterNone:
		return nil, nil
	case "", exporterOTLP:
	default:
		return nil, fmt.Errorf("%s: unknown exporter %q, want %s or %s", name, value, exporterOTLP, exporterNone)
	}
	if name, _ := env.first("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"); name == "" {
		return nil, nil
	}
	name, value = env.first("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
	var client otlptrace.Client
	switch value {
	case protocolGRPC:
		client = otlptracegrpc.NewClient()
	case "", protocolHTTP:
		client = otlptracehttp.NewClient()
	default:
		return nil, fmt.Errorf("%s: unknown protocol %q, want %s or %s", name, value, protocolGRPC, protocolHTTP)
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("trace exporter: %w", err)
	}
	return exporter, nil
}

// tally counts what becomes of finished spans that should be exported. It is a span processor for the spans that finish
// and wraps the exporter for those that arrive.
type tally struct {
	finished, delivered, failed atomic.Int64
	stopped                     atomic.Bool
}

// lost counts the spans whose sending failed; after the end of the process's telemetry also those never sent.
func (t *tally) lost() int64 {
	if t.stopped.Load() {
		return t.finished.Load() - t.delivered.Load()
	}
	return t.failed.Load()
}

func (t *tally) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

func (t *tally) OnEnd(span sdktrace.ReadOnlySpan) {
	if span.SpanContext().IsSampled() {
		t.finished.Add(1)
	}
}

func (t *tally) Shutdown(context.Context) error { return nil }

func (t *tally) ForceFlush(context.Context) error { return nil }

type tallyExporter struct {
	sdktrace.SpanExporter

	tally *tally
}

func (e tallyExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	if err != nil {
		e.tally.failed.Add(int64(len(spans)))
	} else {
		e.tally.delivered.Add(int64(len(spans)))
	}
	return err
}
