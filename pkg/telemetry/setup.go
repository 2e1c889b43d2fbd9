package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

const (
	// FlushTimeout bounds the last sending of spans when a process ends.
	FlushTimeout = 5 * time.Second

	exportTimeout = 10 * time.Second
	errorInterval = time.Minute
)

// Config says what a process is called and where its telemetry goes. The zero value is usable.
type Config struct {
	// Service is the default of OTEL_SERVICE_NAME: the name of the process in traces. Empty means "proofmill".
	Service string
	// Version is the program's version, shown with each trace.
	Version string
	// Log receives what goes wrong inside telemetry, at most once a minute. Nil means nowhere.
	Log *slog.Logger
	// LogWriteErrors, where set, is exported as a metric: [Logs.WriteErrors].
	LogWriteErrors func() int64
	// Recorder bounds the spans that are kept in the process.
	Recorder RecorderLimits
	// Getenv reads the OTEL_* variables that this package handles itself. Nil means [os.Getenv]; the exporters and the
	// SDK always read the environment of the process.
	Getenv func(string) string
}

// Telemetry owns the providers of one process. Its methods may be called from several goroutines.
type Telemetry struct {
	tracerProvider trace.TracerProvider
	meterProvider  *sdkmetric.MeterProvider
	handler        http.Handler
	recorder       *Recorder
	propagator     propagation.TextMapPropagator
	errors         *errorHandler
	shutdowns      []func(context.Context) error
	tally          tally
	exporting      bool
	flushTimeout   time.Duration
}

// Start makes the providers. It does not block on the network. An error means that an OTEL_* variable holds something
// unknown; everything else is tolerated. The caller must call [Telemetry.Shutdown].
func Start(ctx context.Context, config Config) (*Telemetry, error) {
	env := environment(config.Getenv)
	if env == nil {
		env = os.Getenv
	}
	t := &Telemetry{
		recorder:   NewRecorder(config.Recorder),
		propagator: propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}),
		errors:     newErrorHandler(config.Log),

		flushTimeout: FlushTimeout,
	}
	res, err := newResource(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := t.startTraces(ctx, env, res); err != nil {
		return nil, err
	}
	if err := t.startMetrics(env, res, config.LogWriteErrors); err != nil {
		return nil, errors.Join(err, t.Shutdown(ctx))
	}
	return t, nil
}

func newResource(ctx context.Context, config Config) (*resource.Resource, error) {
	service := config.Service
	if service == "" {
		service = "proofmill"
	}
	attributes := []attribute.KeyValue{attribute.String("service.name", service)}
	if config.Version != "" {
		attributes = append(attributes, attribute.String("service.version", config.Version))
	}
	// The environment comes last, so that OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win.
	res, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithHost(),
		resource.WithProcessPID(),
		resource.WithAttributes(attributes...),
		resource.WithFromEnv(),
	)
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return res, nil
}

func (t *Telemetry) startTraces(ctx context.Context, env environment, res *resource.Resource) error {
	if env.disabled() {
		t.tracerProvider = noop.NewTracerProvider()
		return nil
	}
	exporter, err := newExporter(ctx, env)
	if err != nil {
		return err
	}
	options := []sdktrace.TracerProviderOption{
		sdktrace.WithResource(res),
		sdktrace.WithIDGenerator(idGenerator{}),
		sdktrace.WithSpanProcessor(t.recorder),
	}
	if exporter != nil {
		// Queue (2,048 spans), batch (512) and delay (5 s) are the SDK's and follow OTEL_BSP_*. A full queue drops.
		var batch []sdktrace.BatchSpanProcessorOption
		if name, _ := env.first("OTEL_BSP_EXPORT_TIMEOUT"); name == "" {
			batch = append(batch, sdktrace.WithExportTimeout(exportTimeout))
		}
		options = append(options, sdktrace.WithSpanProcessor(&t.tally),
			sdktrace.WithBatcher(tallyExporter{exporter, &t.tally}, batch...))
		t.exporting = true
	}
	provider := sdktrace.NewTracerProvider(options...)
	t.tracerProvider = provider
	t.shutdowns = append(t.shutdowns, provider.Shutdown)
	if exporter != nil {
		// The provider leaves its exporter running where its own shutdown ran out of time; a second call is harmless.
		t.shutdowns = append(t.shutdowns, exporter.Shutdown)
	}
	return nil
}

// SetGlobal makes this telemetry the process's default of OpenTelemetry: [otel.Tracer], [otel.Meter], the propagator and
// the handler of inner errors. Programs call it once; tests pass providers instead.
func (t *Telemetry) SetGlobal() {
	otel.SetTracerProvider(t.tracerProvider)
	otel.SetMeterProvider(t.meterProvider)
	otel.SetTextMapPropagator(t.propagator)
	otel.SetErrorHandler(t.errors)
}

// TracerProvider gives the provider of spans.
func (t *Telemetry) TracerProvider() trace.TracerProvider { return t.tracerProvider }

// MeterProvider gives the provider of instruments.
func (t *Telemetry) MeterProvider() metric.MeterProvider { return t.meterProvider }

// Propagator reads and writes W3C trace context and baggage.
func (t *Telemetry) Propagator() propagation.TextMapPropagator { return t.propagator }

// Recorder holds the finished spans of recent traces.
func (t *Telemetry) Recorder() *Recorder { return t.recorder }

// Exporting reports whether spans are sent to a collector.
func (t *Telemetry) Exporting() bool { return t.exporting }

// SpansLost counts the spans that the collector did not take; after [Telemetry.Shutdown], every span that it did not get.
func (t *Telemetry) SpansLost() int64 { return t.tally.lost() }

// Shutdown sends what is left and stops the providers, within [FlushTimeout] even where ctx is cancelled already (at the
// end of a process it is). A collector that does not answer is not an error of the program: it is counted by
// [Telemetry.SpansLost] and returned only for a log line.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.flushTimeout)
	defer cancel()
	var failures []error
	for _, shutdown := range t.shutdowns {
		if err := shutdown(ctx); err != nil {
			failures = append(failures, err)
		}
	}
	t.shutdowns = nil
	t.tally.stopped.Store(true)
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("telemetry shutdown: %w", err)
	}
	return nil
}

// errorHandler passes inner errors of OpenTelemetry to the log, at most one a minute.
type errorHandler struct {
	log  *slog.Logger
	last atomic.Int64
}

func newErrorHandler(log *slog.Logger) *errorHandler {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &errorHandler{log: log}
}

// Handle implements [otel.ErrorHandler].
func (h *errorHandler) Handle(err error) {
	now := time.Now().UnixNano()
	last := h.last.Load()
	if last != 0 && now-last < int64(errorInterval) || !h.last.CompareAndSwap(last, now) {
		return
	}
	h.log.Warn("telemetry failed, work goes on", "error", err)
}
