package telemetry

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"
)

func TestLogRecordsCarryTheirContext(t *testing.T) {
	var out bytes.Buffer
	logs, err := NewLogs(&out, "info", LogFormatAuto)
	if err != nil {
		t.Fatal(err)
	}
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}})
	ctx := trace.ContextWithSpanContext(t.Context(), span)
	ctx = WithLogAttrs(ctx, slog.String(LogJob, "j1"))
	sibling := WithLogAttrs(ctx, slog.Int(LogPartition, 8))
	ctx = WithLogAttrs(ctx, slog.Int(LogPartition, 7))
	logs.With(LogWorker, "w1").InfoContext(ctx, "proved")
	logs.InfoContext(sibling, "sibling")

	decoder := json.NewDecoder(&out)
	var record map[string]any
	if err := decoder.Decode(&record); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"msg": "proved", LogJob: "j1", LogPartition: float64(7), LogWorker: "w1", LogTraceID: span.TraceID().String(),
	} {
		if record[key] != want {
			t.Errorf("%s is %v, want %v", key, record[key], want)
		}
	}
	if err := decoder.Decode(&record); err != nil || record[LogPartition] != float64(8) {
		t.Errorf("the sibling has partition %v (%v), want 8", record[LogPartition], err)
	}
}

func TestLogLevelChangesAtRunTime(t *testing.T) {
	var out bytes.Buffer
	logs, err := NewLogs(&out, "warn", LogFormatText)
	if err != nil {
		t.Fatal(err)
	}
	logs.Info("before")
	if err := logs.SetLevel("DEBUG"); err != nil {
		t.Fatal(err)
	}
	logs.Debug("after")
	if text := out.String(); strings.Contains(text, "before") || !strings.Contains(text, "after") {
		t.Errorf("log is %q, want only the second line", text)
	}
	if err := logs.SetLevel("loud"); err == nil || logs.Level() != slog.LevelDebug {
		t.Errorf("level %v after error %v, want debug kept and an error", logs.Level(), err)
	}
	if _, err := NewLogs(&out, "info", "xml"); err == nil {
		t.Error("format xml accepted")
	}
}

func TestLogOutputMoves(t *testing.T) {
	var first, second bytes.Buffer
	logs, err := NewLogs(&first, "info", LogFormatJSON)
	if err != nil {
		t.Fatal(err)
	}
	restore := logs.Redirect(&second)
	logs.Info("during")
	restore()
	logs.Info("later")
	if strings.Contains(first.String(), "during") || !strings.Contains(first.String(), "later") || !strings.Contains(second.String(), "during") {
		t.Errorf("outputs %q and %q", first.String(), second.String())
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestLogWriteErrorsAreCounted(t *testing.T) {
	logs, err := NewLogs(brokenWriter{}, "info", LogFormatJSON)
	if err != nil {
		t.Fatal(err)
	}
	logs.Info("one")
	logs.Info("two")
	if got := logs.WriteErrors(); got != 2 {
		t.Errorf("%d write errors, want 2", got)
	}
}
