package synth

import (
	"container/list"
	"context"
	"errors"
	"sync"

	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/wire"
)

// cache keeps opened inputs by the hash of their content, so that the partitions of one PoRep, which all need its whole C1 output,
// decode it once. Those used longest ago leave first; at least the last stays, however large.
type cache struct {
	limit int64

	mu    sync.Mutex
	known map[wire.JobID]*list.Element // of *entry
	order *list.List                   // the last used first
	bytes int64
}

type entry struct {
	id    wire.JobID
	bytes int64
	done  chan struct{}
	job   *engine.Job
	err   error
}

func newCache(limit int64) *cache {
	return &cache{limit: limit, known: make(map[wire.JobID]*list.Element), order: list.New()}
}

// get gives what open makes, calling it once for all who ask while it runs or remembers. It blocks until then or until ctx ends.
func (c *cache) get(ctx context.Context, id wire.JobID, bytes int64, open func(ctx context.Context) (*engine.Job, error)) (*engine.Job, error) {
	for {
		e, mine := c.claim(id, bytes)
		if mine {
			e.job, e.err = open(ctx)
			if e.err != nil {
				c.forget(e)
			}
			close(e.done)
			return e.job, e.err
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		// The end of another's context says nothing of ours.
		if !errors.Is(e.err, context.Canceled) && !errors.Is(e.err, context.DeadlineExceeded) {
			return e.job, e.err
		}
	}
}

func (c *cache) claim(id wire.JobID, bytes int64) (e *entry, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.known[id]; ok {
		c.order.MoveToFront(at)
		e, _ = at.Value.(*entry)
		return e, false
	}
	e = &entry{id: id, bytes: bytes, done: make(chan struct{})}
	c.known[id] = c.order.PushFront(e)
	c.bytes += bytes
	for c.bytes > c.limit && c.order.Len() > 1 {
		c.remove(c.order.Back())
	}
	return e, true
}

func (c *cache) forget(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.known[e.id]; ok && at.Value == e {
		c.remove(at)
	}
}

// remove takes an entry out; who waits for it still gets it. The lock is held.
func (c *cache) remove(at *list.Element) {
	e, _ := c.order.Remove(at).(*entry)
	delete(c.known, e.id)
	c.bytes -= e.bytes
}
