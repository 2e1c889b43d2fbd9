package progress

import (
	"bytes"
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
	group := Start(&out, newLogs(t, &out))
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
	group := Start(&out, newLogs(t, &out))
	work := group.Add("fetch", 0, Bytes)
	work.Advance(10)
	work.Fail(errors.New("no route"))
	group.Close()
	if text := out.String(); !strings.Contains(text, "level=WARN msg=failed work=fetch") || !strings.Contains(text, "no route") {
		t.Errorf("log is\n%s", text)
	}
}

func TestBarsEndWhateverBecomesOfTheirWork(t *testing.T) {
	for name, finish := range map[string]func(*Work){
		"3 / 3 [=":       func(w *Work) { w.Advance(3); w.Done() },
		"100 % done":     func(w *Work) { w.Advance(1); w.Done() },
		"33 % failed":    func(w *Work) { w.Advance(1); w.Fail(errors.New("x")) },
		"0 / 3 ":         func(w *Work) { w.Fail(errors.New("x")) },
		"67 % failed":    func(w *Work) { w.Advance(2) },
		"above the bars": func(*Work) {},
	} {
		t.Run(name, func(t *testing.T) {
			var terminal, log bytes.Buffer
			logs := newLogs(t, &log)
			group := &Group{logs: logs, restore: func() {}}
			group.draw(&terminal, mpb.WithAutoRefresh(), mpb.WithWidth(80))
			work := group.Add("porep", 3, Items)
			logs.Info("above the bars")
			work.SetTotal(3)
			finish(work)
			group.Close()
			group.Add("late", 1, Items).Done()
			logs.Info("afterwards")
			if strings.Contains(log.String(), "above the bars") || !strings.Contains(log.String(), "afterwards") {
				t.Errorf("the log went to %q", log.String())
			}
			if !strings.Contains(terminal.String(), name) {
				t.Errorf("the terminal shows %q, want %q", terminal.String(), name)
			}
		})
	}
}
