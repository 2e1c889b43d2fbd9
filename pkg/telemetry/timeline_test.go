package telemetry

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

func exampleTrace() []Span {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	number := byte(0)
	var spans []Span
	add := func(parent trace.SpanID, name string, from, to time.Duration, attributes ...attribute.KeyValue) trace.SpanID {
		number++
		id := trace.SpanID{number}
		spans = append(spans, Span{
			TraceID: trace.TraceID{0xab}, ID: id, Parent: parent, Name: name,
			Start: begin.Add(from), End: begin.Add(to), Attributes: attributes,
		})
		return id
	}
	const ms = time.Millisecond
	request := add(trace.SpanID{}, "request", 0, 4200*ms, KindKey.String("porep"))
	add(request, "check request", 0, 12*ms)
	first := add(request, "partition", 15*ms, 1400*ms, PartitionKey.Int(0))
	second := add(request, "partition", 15*ms, 4100*ms, PartitionKey.Int(1))
	add(first, "prove", 340*ms, 1390*ms, KindKey.String("porep"))
	add(first, "synth", 20*ms, 330*ms)
	add(second, "synth", 20*ms, 350*ms)
	add(second, "prove", 1400*ms, 1900*ms)
	spans[len(spans)-1].Failed, spans[len(spans)-1].Error = true, "device lost\nmore"
	add(second, "prove", 2000*ms, 4090*ms, AttemptKey.Int(2))
	add(request, "verify and assemble the proof of all partitions", 4100*ms, 4190*ms)
	add(trace.SpanID{99}, "work of a lost parent", 4195*ms, 4195*ms+300*time.Microsecond)
	return spans
}

func TestTimelineGolden(t *testing.T) {
	for name, options := range map[string]TimelineOptions{
		"timeline.txt":        {},
		"timeline_ascii.txt":  {ASCII: true, Width: 80},
		"timeline_narrow.txt": {Width: 10},
	} {
		var out bytes.Buffer
		if err := RenderTimeline(&out, exampleTrace(), options); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTimelineOfNothingIsNothing(t *testing.T) {
	var out bytes.Buffer
	if err := RenderTimeline(&out, nil, TimelineOptions{}); err != nil || out.Len() != 0 {
		t.Errorf("wrote %q, %v", out.String(), err)
	}
}

// Each span has one line, whatever its times and parents, and no bar leaves its column.
func TestTimelineDrawsEachSpanOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 30).Draw(t, "count")
		spans := make([]Span, count)
		for i := range spans {
			begin := time.Unix(0, rapid.Int64Range(0, 1e10).Draw(t, "start"))
			spans[i] = Span{
				ID: trace.SpanID{1, byte(i)}, Name: "s",
				Parent: trace.SpanID{1, byte(rapid.IntRange(0, i).Draw(t, "parent"))},
				Start:  begin, End: begin.Add(time.Duration(rapid.Int64Range(0, 1e10).Draw(t, "length"))),
			}
		}
		var out bytes.Buffer
		if err := RenderTimeline(&out, spans, TimelineOptions{Width: 90}); err != nil {
			t.Fatal(err)
		}
		lines := bytes.Split(bytes.TrimRight(out.Bytes(), "\n"), []byte("\n"))
		if len(lines) != count+1 {
			t.Fatalf("%d lines for %d spans:\n%s", len(lines), count, out.String())
		}
		for _, line := range lines[1:] {
			if utf8.RuneCount(line) > 90 {
				t.Fatalf("line of %d characters: %s", utf8.RuneCount(line), line)
			}
		}
	})
}

func TestFormatDuration(t *testing.T) {
	for duration, want := range map[time.Duration]string{
		0:                         "0 us",
		870 * time.Microsecond:    "870 us",
		1234 * time.Microsecond:   "1.23 ms",
		9996 * time.Microsecond:   "10.0 ms",
		345678 * time.Microsecond: "346 ms",
		4560 * time.Millisecond:   "4.56 s",
		187 * time.Second:         "3m07s",
		3725 * time.Second:        "1h02m",
	} {
		if got := FormatDuration(duration); got != want {
			t.Errorf("%v is %q, want %q", int64(duration), got, want)
		}
	}
}

func TestTimelineForFollowsTheLocale(t *testing.T) {
	for _, test := range []struct {
		env   map[string]string
		ascii bool
	}{
		{map[string]string{"LANG": "en_GB.UTF-8"}, false},
		{map[string]string{"LANG": "C.utf8"}, false},
		{map[string]string{"LANG": "en_GB.UTF-8", "LC_ALL": "C"}, true},
		{nil, true},
	} {
		options := TimelineFor(&bytes.Buffer{}, func(name string) string { return test.env[name] })
		if options.ASCII != test.ascii || options.Width != 0 {
			t.Errorf("%v: options %+v, want ASCII %v and no width", test.env, options, test.ascii)
		}
	}
}
