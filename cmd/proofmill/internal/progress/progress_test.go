package progress

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/vbauerster/mpb/v8"
	"go.uber.org/goleak"

	"github.com/proofmill/proofmill/pkg/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newLogs(t *testing.T, out *bytes.Buffer) *telemetry.Logs {
	t.Helper()
	logs, err := telemetry.NewLogs(out, "info", telemetry.LogFormatText)
	if err != nil {
		t.Fatal(err)
	}
	return logs
}

func TestOffATerminalProgressIsTenLines(t *testing.T) {
	var out bytes.Buffer
	group := Start(t.Context(), &out, newLogs(t, &out))
	work := group.Add("setup", 1000, Items)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 250 {
				work.Advance(1)
			}
		})
	}
	wait.Wait()
	work.Done()
	work.Fail(errors.New("late"))
	work.Advance(5)
	group.Close()
	text := out.String()
	if lines := strings.Count(text, "\n"); lines != logSteps {
		t.Errorf("%d lines, want %d:\n%s", lines, logSteps, text)
	}
	if !strings.Contains(text, "work=setup done=500 total=1000 percent=50") || !strings.Contains(text, "msg=done work=setup took=") {
		t.Errorf("log is\n%s", text)
	}
	if strings.Contains(text, "late") {
		t.Error("the second end was reported")
	}
}

func TestFailureIsALine(t *testing.T) {
	var out bytes.Buffer
	group := Start(t.Context(), &out, newLogs(t, &out))
	work := group.Add("fetch", 0, Bytes)
	work.Advance(10)
	work.Fail(errors.New("no route"))
	group.Close()
	if text := out.String(); !strings.Contains(text, "level=WARN msg=failed work=fetch") || !strings.Contains(text, "no route") {
		t.Errorf("log is\n%s", text)
	}
}

func TestBarsEndWhateverBecomesOfTheirWork(t *testing.T) {
	for name, finish := range map[string]func(context.CancelFunc, *Work){
		"done":      func(_ context.CancelFunc, w *Work) { w.Advance(3); w.Done() },
		"short":     func(_ context.CancelFunc, w *Work) { w.Advance(1); w.Done() },
		"failed":    func(_ context.CancelFunc, w *Work) { w.Fail(errors.New("x")) },
		"abandoned": func(context.CancelFunc, *Work) {},
		"cancelled": func(cancel context.CancelFunc, w *Work) { cancel(); w.Advance(1) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var terminal, log bytes.Buffer
			logs := newLogs(t, &log)
			group := &Group{logs: logs, restore: func() {}}
			group.draw(ctx, &terminal, mpb.WithAutoRefresh(), mpb.WithWidth(80))
			work := group.Add("porep", 3, Items)
			logs.Info("above the bars")
			work.SetTotal(3)
			finish(cancel, work)
			group.Close()
			logs.Info("afterwards")
			if strings.Contains(log.String(), "above the bars") || !strings.Contains(log.String(), "afterwards") {
				t.Errorf("the log went to %q", log.String())
			}
			if name == "done" && !strings.Contains(terminal.String(), "3 / 3") {
				t.Errorf("the terminal shows %q", terminal.String())
			}
		})
	}
}
