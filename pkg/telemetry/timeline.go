package telemetry

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/trace"
	"golang.org/x/term"
)

// Widths of a timeline in characters.
const (
	DefaultTimelineWidth = 100
	minTimelineWidth     = 60
	maxTimelineWidth     = 160
	minBarWidth          = 16
	maxLabelShare        = 0.5
	durationWidth        = 9
)

// TimelineOptions says how a timeline is drawn. The zero value is usable.
type TimelineOptions struct {
	// Width is the width of a line in characters without the marks at its end; 0 means [DefaultTimelineWidth].
	Width int
	// ASCII avoids characters that a terminal without UTF-8 cannot show.
	ASCII bool
}

// TimelineFor gives the options that suit w: the width of a terminal, and ASCII where the locale variables, read by getenv,
// name another encoding than UTF-8. Off a terminal the width is the default.
func TimelineFor(w io.Writer, getenv func(string) string) TimelineOptions {
	locale := cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG"))
	encoding := strings.ToUpper(strings.ReplaceAll(locale, "-", ""))
	options := TimelineOptions{ASCII: !strings.HasSuffix(encoding, "UTF8")}
	if file, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			options.Width = min(width-1, maxTimelineWidth)
		}
	}
	return options
}

type timelineStyle struct {
	branch, last, pipe, blank string
	bar, point, failed, retry string
	cut                       string
}

func (o TimelineOptions) style() timelineStyle {
	if o.ASCII {
		return timelineStyle{
			branch: "|- ", last: "`- ", pipe: "|  ", blank: "   ",
			bar: "=", point: "|", failed: "ERROR", retry: "attempt", cut: "~",
		}
	}
	return timelineStyle{
		branch: "├─ ", last: "└─ ", pipe: "│  ", blank: "   ",
		bar: "█", point: "▏", failed: "✗", retry: "↻ attempt", cut: "…",
	}
}

type timelineRow struct {
	label string
	span  *Span
}

// RenderTimeline draws the spans of one trace as an indented tree, in the order of their starts, each with a bar at its
// place in the whole time, its duration, and marks for a failure and for tries after the first. Spans whose parent is
// not among them (it ran in another process, or is not finished) stand at the root.
func RenderTimeline(w io.Writer, spans []Span, options TimelineOptions) error {
	if len(spans) == 0 {
		return nil
	}
	style := options.style()
	rows := timelineRows(spans, style)
	start, end := spans[0].Start, spans[0].End
	for _, span := range spans {
		if span.Start.Before(start) {
			start = span.Start
		}
		if span.End.After(end) {
			end = span.End
		}
	}
	width := max(options.Width, minTimelineWidth)
	if options.Width == 0 {
		width = DefaultTimelineWidth
	}
	labelWidth := 0
	for _, row := range rows {
		labelWidth = max(labelWidth, utf8.RuneCountInString(row.label))
	}
	labelWidth = min(labelWidth, int(float64(width)*maxLabelShare))
	barWidth := max(width-labelWidth-durationWidth-2, minBarWidth)

	var out strings.Builder
	noun := "spans"
	if len(spans) == 1 {
		noun = "span"
	}
	fmt.Fprintf(&out, "trace %s, %s, %d %s\n", spans[0].TraceID, FormatDuration(end.Sub(start)), len(spans), noun)
	for _, row := range rows {
		line := fmt.Sprintf("%s %s %*s%s",
			fit(row.label, labelWidth, style.cut),
			bar(row.span, start, end.Sub(start), barWidth, style),
			durationWidth, FormatDuration(row.span.Duration()),
			marks(row.span, style))
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("timeline: %w", err)
	}
	return nil
}

// timelineRows orders the spans as a tree, depth first.
func timelineRows(spans []Span, style timelineStyle) []timelineRow {
	known := make(map[trace.SpanID]bool, len(spans))
	for _, span := range spans {
		known[span.ID] = true
	}
	children := make(map[trace.SpanID][]*Span)
	for i := range spans {
		parent := spans[i].Parent
		if !known[parent] || parent == spans[i].ID {
			parent = trace.SpanID{}
		}
		children[parent] = append(children[parent], &spans[i])
	}
	for _, list := range children {
		slices.SortStableFunc(list, func(a, b *Span) int {
			return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(partition(a), partition(b)), b.End.Compare(a.End))
		})
	}
	rows := make([]timelineRow, 0, len(spans))
	var walk func(list []*Span, indent string, root bool)
	walk = func(list []*Span, indent string, root bool) {
		for i, span := range list {
			edge, below := style.branch, style.pipe
			if i == len(list)-1 {
				edge, below = style.last, style.blank
			}
			if root {
				edge, below = "", ""
			}
			rows = append(rows, timelineRow{indent + edge + label(span), span})
			walk(children[span.ID], indent+below, false)
		}
	}
	walk(children[trace.SpanID{}], "", true)
	return rows
}

func label(span *Span) string {
	text := span.Name
	if kind, ok := span.Attribute(KindKey); ok && span.Parent == (trace.SpanID{}) {
		text += " " + kind.AsString()
	}
	if number := partition(span); number >= 0 {
		text += fmt.Sprintf(" #%d", number)
	}
	return text
}

// partition is -1 for a span of no partition.
func partition(span *Span) int64 {
	if number, ok := span.Attribute(PartitionKey); ok {
		return number.AsInt64()
	}
	return -1
}

func marks(span *Span, style timelineStyle) string {
	text := ""
	if attempt, ok := span.Attribute(AttemptKey); ok && attempt.AsInt64() > 1 {
		text += fmt.Sprintf("  %s %d", style.retry, attempt.AsInt64())
	}
	if span.Failed {
		text += strings.TrimRight("  "+style.failed+" "+firstLine(span.Error), " ")
	}
	return text
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// bar places a span in the whole time. A span too short for one character is drawn as a point.
func bar(span *Span, start time.Time, total time.Duration, width int, style timelineStyle) string {
	if total <= 0 {
		total = 1
	}
	scale := float64(width) / float64(total)
	from := min(int(float64(span.Start.Sub(start))*scale), width-1)
	to := min(int(float64(span.End.Sub(start))*scale+0.5), width)
	if to <= from {
		return strings.Repeat(" ", from) + style.point + strings.Repeat(" ", width-from-1)
	}
	return strings.Repeat(" ", from) + strings.Repeat(style.bar, to-from) + strings.Repeat(" ", width-to)
}

func fit(text string, width int, cut string) string {
	count := utf8.RuneCountInString(text)
	if count <= width {
		return text + strings.Repeat(" ", width-count)
	}
	return string([]rune(text)[:width-1]) + cut
}

// FormatDuration writes a duration with three significant digits in the unit that fits: 870 us, 12.3 ms, 4.56 s, 3m07s.
func FormatDuration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d us", d.Microseconds())
	case d < time.Second:
		return digits(float64(d)/float64(time.Millisecond)) + " ms"
	case d < time.Minute:
		return digits(d.Seconds()) + " s"
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
}

func digits(value float64) string {
	switch {
	case value < 9.995:
		return fmt.Sprintf("%.2f", value)
	case value < 99.95:
		return fmt.Sprintf("%.1f", value)
	default:
		return fmt.Sprintf("%.0f", value)
	}
}
