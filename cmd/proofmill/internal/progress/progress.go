// Package progress shows how far long work is: bars on a terminal, log lines elsewhere.
package progress

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/proofmill/proofmill/pkg/telemetry"
)

// logSteps is how many lines a log gets of one work, its end included.
const logSteps = 10

// Unit is what a work is counted in.
type Unit int

// Units.
const (
	Items Unit = iota // partitions, files, points
	Bytes
)

func (u Unit) format(n int64) string {
	if u == Bytes {
		return fmt.Sprintf("% .1f", decor.SizeB1024(n))
	}
	return strconv.FormatInt(n, 10)
}

var errNotDone = errors.New("not done")

// Group shows several works at once. Its methods may be called from several goroutines.
type Group struct {
	logs    *telemetry.Logs
	bars    *mpb.Progress // nil off a terminal
	restore func()

	mu    sync.Mutex
	works []*Work // those with bars
}

// Start gives a group that draws on w if it is a terminal, and else writes to logs. On a terminal, log lines go above the
// bars until [Group.Close], which the caller must call before it writes to the terminal again.
//
// The bars do not end with a context: a work that is interrupted still logs, and [Group.Close] shows it as failed.
func Start(w io.Writer, logs *telemetry.Logs) *Group {
	group := &Group{logs: logs, restore: func() {}}
	if telemetry.IsTerminal(w) {
		group.draw(w)
	}
	return group
}

func (g *Group) draw(w io.Writer, options ...mpb.ContainerOption) {
	g.bars = mpb.New(append(options, mpb.WithOutput(w))...)
	g.restore = g.logs.Redirect(g.bars)
}

// Close ends the drawing; works that have not ended stay there as failed. It waits until the last state is drawn.
func (g *Group) Close() {
	if g.bars != nil {
		g.mu.Lock()
		works := g.works
		g.mu.Unlock()
		for _, work := range works {
			work.Fail(errNotDone)
		}
		g.bars.Wait()
	}
	g.restore()
}

// Work is one line of progress. Its methods may be called from several goroutines.
type Work struct {
	group *Group
	name  string
	bar   *mpb.Bar

	mu      sync.Mutex
	total   int64
	done    int64
	step    int64
	ended   bool
	started time.Time
}

// Add begins a work of total units; 0 means that the total comes later, by [Work.SetTotal].
func (g *Group) Add(name string, total int64, unit Unit) *Work {
	work := &Work{group: g, name: name, total: total, started: time.Now()}
	if g.bars == nil {
		g.logs.Debug("begun", slog.String("work", name), slog.Int64("total", total))
		return work
	}
	counters := decor.Any(func(state decor.Statistics) string {
		if state.Total <= 0 {
			return unit.format(state.Current)
		}
		return unit.format(state.Current) + " / " + unit.format(state.Total)
	}, decor.WCSyncSpace)
	// A group that is closed takes no more bars: such a work goes to the log.
	bar, err := g.bars.Add(total, mpb.BarStyle().Build(),
		mpb.PrependDecorators(decor.Name(name, decor.WCSyncSpaceR), counters),
		mpb.AppendDecorators(
			decor.Percentage(decor.WC{W: 5}),
			decor.OnComplete(decor.OnAbort(decor.Name(" "), " failed "), " done "),
			decor.Elapsed(decor.ET_STYLE_MMSS),
		),
	)
	if err != nil {
		return work
	}
	work.bar = bar
	g.mu.Lock()
	defer g.mu.Unlock()
	g.works = append(g.works, work)
	return work
}

// SetTotal corrects the total.
func (w *Work) SetTotal(total int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.total = total
	if w.bar != nil {
		w.bar.SetTotal(total, false)
	}
}

// Advance adds n units.
func (w *Work) Advance(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	w.done += n
	if w.bar != nil {
		w.bar.IncrInt64(n)
		return
	}
	if w.total <= 0 || w.done >= w.total {
		return // the end has its own line
	}
	if step := w.done * logSteps / w.total; step > w.step {
		w.step = step
		w.group.logs.Info("progress", slog.String("work", w.name),
			slog.Int64("done", w.done), slog.Int64("total", w.total), slog.Int64("percent", w.done*100/w.total))
	}
}

// Done ends the work as successful. Calls after the first end do nothing.
func (w *Work) Done() { w.end(nil) }

// Fail ends the work as failed. Calls after the first end do nothing.
func (w *Work) Fail(err error) { w.end(err) }

func (w *Work) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	w.ended = true
	took := slog.String("took", telemetry.FormatDuration(time.Since(w.started)))
	switch {
	case w.bar != nil && err != nil:
		w.bar.Abort(false)
	case w.bar != nil:
		w.bar.SetTotal(-1, true)
	case err != nil:
		w.group.logs.Warn("failed", slog.String("work", w.name), took, slog.Any("error", err))
	default:
		w.group.logs.Info("done", slog.String("work", w.name), took)
	}
}
