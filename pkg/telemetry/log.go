package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/trace"
	"golang.org/x/term"
)

// Keys of log records. Everything that concerns one of these uses its key and no other.
const (
	LogJob       = "job"
	LogKind      = "kind"
	LogPartition = "partition"
	LogAttempt   = "attempt"
	LogWorker    = "worker"
	LogGPU       = "gpu"
	LogTraceID   = "trace_id"
)

// Formats of log lines.
const (
	LogFormatAuto = "auto" // text on a terminal, JSON elsewhere
	LogFormatText = "text"
	LogFormatJSON = "json"
)

// Logs is the log of a process: a slog logger whose level and output may change while it is used.
type Logs struct {
	*slog.Logger

	level  slog.LevelVar
	output lossyWriter
}

// NewLogs gives a log that writes to w. The level is one of debug, info, warn and error; the format one of the
// LogFormat constants. A log line that cannot be written is counted, see [Logs.WriteErrors]; it never fails the caller.
func NewLogs(w io.Writer, level, format string) (*Logs, error) {
	logs := &Logs{}
	logs.output.w = w
	if err := logs.SetLevel(level); err != nil {
		return nil, err
	}
	options := &slog.HandlerOptions{Level: &logs.level}
	var handler slog.Handler
	switch {
	case format == LogFormatJSON, format == LogFormatAuto && !IsTerminal(w):
		handler = slog.NewJSONHandler(&logs.output, options)
	case format == LogFormatText, format == LogFormatAuto:
		options.ReplaceAttr = shortTime
		handler = slog.NewTextHandler(&logs.output, options)
	default:
		return nil, fmt.Errorf("log format: unknown %q, want %s, %s or %s", format, LogFormatAuto, LogFormatText, LogFormatJSON)
	}
	logs.Logger = slog.New(contextHandler{handler})
	return logs, nil
}

// SetLevel changes the least level that is written.
func (l *Logs) SetLevel(level string) error {
	switch strings.ToLower(level) {
	case "debug":
		l.level.Set(slog.LevelDebug)
	case "info":
		l.level.Set(slog.LevelInfo)
	case "warn":
		l.level.Set(slog.LevelWarn)
	case "error":
		l.level.Set(slog.LevelError)
	default:
		return fmt.Errorf("log level: unknown %q, want debug, info, warn or error", level)
	}
	return nil
}

// Level gives the least level that is written.
func (l *Logs) Level() slog.Level { return l.level.Level() }

// Redirect sends further lines to w (progress bars must stay below them) until restore is called.
func (l *Logs) Redirect(w io.Writer) (restore func()) {
	before := l.output.swap(w)
	return func() { l.output.swap(before) }
}

// WriteErrors counts the lines that could not be written.
func (l *Logs) WriteErrors() int64 { return l.output.failures.Load() }

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func shortTime(groups []string, attr slog.Attr) slog.Attr {
	if len(groups) == 0 && attr.Key == slog.TimeKey {
		return slog.String(slog.TimeKey, attr.Value.Time().Format("15:04:05.000"))
	}
	return attr
}

// lossyWriter passes lines on and swallows errors.
type lossyWriter struct {
	mu       sync.Mutex
	w        io.Writer
	failures atomic.Int64
}

func (l *lossyWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.w.Write(line); err != nil {
		l.failures.Add(1)
	}
	return len(line), nil
}

func (l *lossyWriter) swap(w io.Writer) io.Writer {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.w
	l.w = w
	return before
}

type logAttrsKey struct{}

// WithLogAttrs gives a context whose log records carry the attributes, after those that ctx has already.
func WithLogAttrs(ctx context.Context, attrs ...slog.Attr) context.Context {
	before, _ := ctx.Value(logAttrsKey{}).([]slog.Attr)
	return context.WithValue(ctx, logAttrsKey{}, append(slices.Clip(before), attrs...))
}

// contextHandler adds to each record what its context knows.
type contextHandler struct{ slog.Handler }

func (h contextHandler) Handle(ctx context.Context, record slog.Record) error {
	if attrs, ok := ctx.Value(logAttrsKey{}).([]slog.Attr); ok {
		record.AddAttrs(attrs...)
	}
	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
		record.AddAttrs(slog.String(LogTraceID, span.TraceID().String()))
	}
	return h.Handler.Handle(ctx, record)
}

func (h contextHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return contextHandler{h.Handler.WithAttrs(attrs)}
}

func (h contextHandler) WithGroup(name string) slog.Handler {
	return contextHandler{h.Handler.WithGroup(name)}
}
