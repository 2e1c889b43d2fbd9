package host

import (
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/proofmill/proofmill/pkg/bus"
)

// DefaultDrainTimeout is how long work in hand may take after a service was asked to stop.
const DefaultDrainTimeout = time.Minute

// Options are what every service needs. Conn is required; it stays the caller's, who closes it after Run.
type Options struct {
	Conn *bus.Conn
	// Log gets what happens; nil means slog.Default().
	Log *slog.Logger
	// Tracers and Meters make spans and instruments; nil makes none. Spans of whole requests need the provider of package telemetry.
	Tracers trace.TracerProvider
	Meters  metric.MeterProvider
	// Listen is the address for health and metrics, such as 127.0.0.1:9470; empty listens nowhere.
	Listen string
	// Metrics is served under /metrics; nil serves none.
	Metrics http.Handler
	// DrainTimeout bounds what is finished after the end was asked for; 0 means DefaultDrainTimeout.
	DrainTimeout time.Duration
	// Software is the version of the program, for the fleet.
	Software string
}

func (o *Options) fill() {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Tracers == nil {
		o.Tracers = tracenoop.NewTracerProvider()
	}
	if o.Meters == nil {
		o.Meters = metricnoop.NewMeterProvider()
	}
	if o.DrainTimeout <= 0 {
		o.DrainTimeout = DefaultDrainTimeout
	}
}
