package telemetry

import (
	"context"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
)

const meterName = "github.com/proofmill/proofmill/pkg/telemetry"

// durationBuckets are the upper bounds in seconds of every histogram that is named "*.duration": from a message's
// round trip to the longest proof on a CPU.
func durationBuckets() []float64 {
	return []float64{
		0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 30, 60, 120, 300, 900, 3600,
	}
}

func (t *Telemetry) startMetrics(env environment, res *resource.Resource, logWriteErrors func() int64) error {
	registry := prometheus.NewRegistry()
	options := []sdkmetric.Option{
		sdkmetric.WithResource(res),
		sdkmetric.WithView(sdkmetric.NewView(
			sdkmetric.Instrument{Name: "*.duration"},
			sdkmetric.Stream{Aggregation: sdkmetric.AggregationExplicitBucketHistogram{Boundaries: durationBuckets()}},
		)),
	}
	if !env.disabled() {
		registry.MustRegister(
			collectors.NewGoCollector(),
			collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		)
		exporter, err := otelprom.New(otelprom.WithRegisterer(registry))
		if err != nil {
			return fmt.Errorf("metrics exporter: %w", err)
		}
		options = append(options, sdkmetric.WithReader(exporter))
	}
	t.meterProvider = sdkmetric.NewMeterProvider(options...)
	t.shutdowns = append(t.shutdowns, t.meterProvider.Shutdown)
	t.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true, Registry: registry})
	return t.observeSelf(logWriteErrors)
}

// observeSelf exports what telemetry itself lost.
func (t *Telemetry) observeSelf(logWriteErrors func() int64) error {
	meter := t.meterProvider.Meter(meterName)
	counters := map[string]func() int64{
		"proofmill.telemetry.spans_lost":        t.SpansLost,
		"proofmill.telemetry.recorder_dropped":  t.recorder.Dropped,
		"proofmill.telemetry.log_writes_failed": logWriteErrors,
	}
	for name, read := range counters {
		if read == nil {
			continue
		}
		_, err := meter.Int64ObservableCounter(name, metric.WithInt64Callback(
			func(_ context.Context, observer metric.Int64Observer) error {
				observer.Observe(read())
				return nil
			}))
		if err != nil {
			return fmt.Errorf("metric %s: %w", name, err)
		}
	}
	return nil
}

// MetricsHandler serves all metrics in the Prometheus and OpenMetrics text formats; the latter carries exemplars with
// trace ids.
func (t *Telemetry) MetricsHandler() http.Handler { return t.handler }
