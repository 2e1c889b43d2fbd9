// Package telemetry makes what a process says about itself: traces, metrics and logs.
//
// Traces follow OpenTelemetry. They leave the process by OTLP only where the OTEL_* environment variables name an
// endpoint; otherwise nothing is sent and nothing is said about it. Finished spans of recent traces are also kept in a
// bounded [Recorder], from which [RenderTimeline] draws what happened to a request.
//
// Metrics are OpenTelemetry instruments, read by Prometheus from [Telemetry.MetricsHandler]. Logs are slog records: JSON
// off a terminal and text on one, with the fixed keys of this package and the trace id of the context.
//
// Telemetry never fails the work that it watches: a dead collector or a full disk costs a count, never an error, and
// never holds up the end of a process for longer than [FlushTimeout].
//
// The package imports nothing of the mathematics and nothing of NATS: trace context in message headers is the bus's.
package telemetry
