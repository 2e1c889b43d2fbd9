package telemetry

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
)

// clearEnvironment removes what the machine's own OTEL_* variables would change.
func clearEnvironment(t *testing.T) {
	t.Helper()
	for _, name := range []string{
		"OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
		"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_TRACES_SAMPLER", "OTEL_SERVICE_NAME",
		"OTEL_RESOURCE_ATTRIBUTES",
	} {
		t.Setenv(name, "")
	}
}

func start(t *testing.T, config Config) *Telemetry {
	t.Helper()
	telemetry, err := Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = telemetry.Shutdown(context.Background()) })
	return telemetry
}

func TestNoEndpointMeansNoExporter(t *testing.T) {
	clearEnvironment(t)
	var log bytes.Buffer
	telemetry := start(t, Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	ctx, span := telemetry.TracerProvider().Tracer("test").Start(t.Context(), "work")
	span.End()
	if telemetry.Exporting() {
		t.Error("exporting without an endpoint")
	}
	if got := telemetry.Recorder().Spans(span.SpanContext().TraceID()); len(got) != 1 || got[0].Name != "work" {
		t.Errorf("recorded %v, want the one span", got)
	}
	if err := telemetry.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if log.Len() > 0 {
		t.Errorf("log says %q, want nothing", log.String())
	}
}

func TestDisabledRecordsNothing(t *testing.T) {
	clearEnvironment(t)
	t.Setenv("OTEL_SDK_DISABLED", "True")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	telemetry := start(t, Config{})
	_, span := telemetry.TracerProvider().Tracer("test").Start(t.Context(), "work")
	span.End()
	if span.IsRecording() || telemetry.Exporting() || len(telemetry.Recorder().Traces()) != 0 {
		t.Error("a disabled SDK recorded a span")
	}
}

func TestUnknownVariableValuesAreErrors(t *testing.T) {
	clearEnvironment(t)
	for _, test := range []struct{ name, value, want string }{
		{"OTEL_TRACES_EXPORTER", "zipkin", "OTEL_TRACES_EXPORTER: unknown exporter"},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", "OTEL_EXPORTER_OTLP_PROTOCOL: unknown protocol"},
	} {
		_, err := Start(t.Context(), Config{Getenv: func(name string) string {
			return map[string]string{test.name: test.value, "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}[name]
		}})
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s=%s: error %v, want %q", test.name, test.value, err, test.want)
		}
	}
}

func TestSpansReachACollectorOverHTTP(t *testing.T) {
	clearEnvironment(t)
	var body atomic.Pointer[[]byte]
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		data, err := io.ReadAll(request.Body)
		if err != nil || request.URL.Path != "/v1/traces" {
			t.Errorf("request %s: %v", request.URL.Path, err)
		}
		body.Store(&data)
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_SERVICE_NAME", "named-by-environment")
	telemetry := start(t, Config{Service: "named-by-program"})
	_, span := telemetry.TracerProvider().Tracer("test").Start(t.Context(), "span-to-send")
	span.End()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := telemetry.Shutdown(cancelled); err != nil {
		t.Fatal(err)
	}
	data := body.Load()
	if data == nil || !bytes.Contains(*data, []byte("span-to-send")) || !bytes.Contains(*data, []byte("named-by-environment")) {
		t.Error("the collector did not get the span with the service name of the environment")
	}
}

// A collector that takes connections and never answers is the worst one: each sending waits for its timeout.
func TestDeadCollectorDoesNotHoldTheEnd(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		for name, address := range map[string]string{"silent": listener.Addr().String(), "refusing": "127.0.0.1:1"} {
			t.Run(protocol+" "+name, func(t *testing.T) {
				clearEnvironment(t)
				t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+address)
				t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
				telemetry := start(t, Config{})
				telemetry.flushTimeout = 300 * time.Millisecond
				if !telemetry.Exporting() {
					t.Fatal("not exporting")
				}
				_, span := telemetry.TracerProvider().Tracer("test").Start(t.Context(), "lost")
				span.End()
				ended := make(chan error, 1)
				go func() { ended <- telemetry.Shutdown(t.Context()) }()
				select {
				case <-ended:
				case <-time.After(2 * FlushTimeout):
					t.Fatalf("shutdown takes longer than %s", 2*FlushTimeout)
				}
				if telemetry.SpansLost() != 1 {
					t.Errorf("lost %d spans, want 1", telemetry.SpansLost())
				}
			})
		}
	}
}

func TestMetricsHandler(t *testing.T) {
	clearEnvironment(t)
	telemetry := start(t, Config{LogWriteErrors: func() int64 { return 3 }})
	ctx, span := telemetry.TracerProvider().Tracer("test").Start(t.Context(), "proof")
	histogram, err := telemetry.MeterProvider().Meter("test").Float64Histogram("proofmill.proof.duration", metric.WithUnit("s"))
	if err != nil {
		t.Fatal(err)
	}
	histogram.Record(ctx, 0.65, metric.WithAttributes(attribute.String("kind", "porep")))
	span.End()
	request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	request.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	response := httptest.NewRecorder()
	telemetry.MetricsHandler().ServeHTTP(response, request)
	page := response.Body.String()
	for _, want := range []string{
		`proofmill_proof_duration_seconds_bucket{kind="porep"`,
		`le="0.7"} 1 # {`, // the exemplar
		span.SpanContext().TraceID().String(),
		"proofmill_telemetry_log_writes_failed_total",
		"go_goroutines",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(page)
	}
}

func TestPropagatorCarriesTraceContext(t *testing.T) {
	clearEnvironment(t)
	telemetry := start(t, Config{})
	ctx, span := telemetry.TracerProvider().Tracer("test").Start(t.Context(), "parent")
	defer span.End()
	carrier := propagation.MapCarrier{}
	telemetry.Propagator().Inject(ctx, carrier)
	_, child := telemetry.TracerProvider().Tracer("test").Start(telemetry.Propagator().Extract(t.Context(), carrier), "child")
	defer child.End()
	if child.SpanContext().TraceID() != span.SpanContext().TraceID() {
		t.Error("the child is in another trace")
	}
}

func TestInnerErrorsAreLoggedOnceAMinute(t *testing.T) {
	var log bytes.Buffer
	handler := newErrorHandler(slog.New(slog.NewTextHandler(&log, nil)))
	for range 5 {
		handler.Handle(errors.New("collector gone"))
	}
	if got := strings.Count(log.String(), "collector gone"); got != 1 {
		t.Errorf("logged %d times, want once", got)
	}
}

func TestRecorderIsBounded(t *testing.T) {
	clearEnvironment(t)
	telemetry := start(t, Config{Recorder: RecorderLimits{MaxTraces: 2, MaxSpansPerTrace: 3}})
	tracer := telemetry.TracerProvider().Tracer("test")
	for range 4 {
		ctx, root := tracer.Start(t.Context(), "root")
		for range 4 {
			_, span := tracer.Start(ctx, "child")
			span.SetStatus(codes.Error, "broken")
			span.End()
		}
		root.End()
	}
	traces := telemetry.Recorder().Traces()
	if len(traces) != 2 {
		t.Fatalf("%d traces kept, want 2", len(traces))
	}
	for _, id := range traces {
		spans := telemetry.Recorder().Spans(id)
		if len(spans) != 3 {
			t.Errorf("%d spans kept, want 3", len(spans))
		}
		if span := spans[0]; !span.Failed || span.Error != "broken" || !span.Parent.IsValid() {
			t.Errorf("span %+v, want the failed child", span)
		}
	}
	if got := telemetry.Recorder().Dropped(); got != 4*2 {
		t.Errorf("dropped %d, want 8", got)
	}
}
