package synth

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/wire"
)

// All who ask at once share one opening.
func TestCacheOpensOnce(t *testing.T) {
	c := newCache(100)
	var opened atomic.Int64
	begin := make(chan struct{})
	want := new(engine.Job)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			<-begin
			got, err := c.get(t.Context(), "a", 10, func(context.Context) (*engine.Job, error) {
				opened.Add(1)
				return want, nil
			})
			if err != nil || got != want {
				t.Errorf("%p, %v", got, err)
			}
		})
	}
	close(begin)
	all.Wait()
	if n := opened.Load(); n != 1 {
		t.Errorf("opened %d times", n)
	}
}

// A failure is not remembered, and who waits for one that gave up opens by itself.
func TestCacheForgetsFailures(t *testing.T) {
	c := newCache(100)
	entered, leave := make(chan struct{}), make(chan struct{})
	first := make(chan error, 1)
	go func() {
		_, err := c.get(t.Context(), "a", 10, func(context.Context) (*engine.Job, error) {
			close(entered)
			<-leave
			return nil, context.Canceled
		})
		first <- err
	}()
	<-entered
	second := make(chan error, 1)
	want := new(engine.Job)
	go func() {
		got, err := c.get(t.Context(), "a", 10, func(context.Context) (*engine.Job, error) { return want, nil })
		if got != want {
			err = errors.Join(err, errors.New("another job"))
		}
		second <- err
	}()
	close(leave)
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("first: %v", err)
	}
	if err := <-second; err != nil {
		t.Errorf("second: %v", err)
	}
}

// The bytes stay within the limit, unless the last entry alone exceeds it, and the last used stay.
func TestCacheIsBounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := newCache(50)
		open := func(context.Context) (*engine.Job, error) { return new(engine.Job), nil }
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			id := wire.JobID(fmt.Sprint(rapid.IntRange(0, 9).Draw(rt, "id")))
			if _, err := c.get(t.Context(), id, rapid.Int64Range(1, 70).Draw(rt, "bytes"), open); err != nil {
				rt.Fatal(err)
			}
			var sum int64
			for at := c.order.Front(); at != nil; at = at.Next() {
				sum += at.Value.(*entry).bytes
			}
			if sum != c.bytes || len(c.known) != c.order.Len() || c.bytes > c.limit && c.order.Len() > 1 {
				rt.Fatalf("%d bytes counted as %d in %d entries, limit %d", sum, c.bytes, c.order.Len(), c.limit)
			}
			if c.order.Front().Value.(*entry).id != id {
				rt.Fatal("the last used is not in front")
			}
		}
	})
}
