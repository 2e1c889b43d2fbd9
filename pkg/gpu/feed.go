package gpu

import (
	"context"
	"runtime"
	"unsafe"

	"golang.org/x/sync/errgroup"
)

// Points on their way to the device go through pinned memory, from which copies run at the bus's speed, in two buffers: while one is
// copied the other is filled by several goroutines, each with pieces of feedPiece bytes.
const (
	feedPiece  = 3 << 20
	feedPieces = 8 // of a buffer at most
)

// feed is the pair of buffers.
type feed struct {
	d       *Device
	bytes   int // of a buffer
	buffers [2]feedBuffer
}

// feedBuffer is pinned memory, as much memory on the device for what cannot be copied to its place at once, and a stream.
type feedBuffer struct {
	pinned  unsafe.Pointer
	staging *buffer
	stream  *stream
}

// newFeed makes buffers for arrays of up to most bytes.
func newFeed(d *Device, name string, most int64) (*feed, error) {
	f := &feed{d: d, bytes: int(max(min(most, feedPiece*feedPieces), g2Bytes))}
	for i := range f.buffers {
		b := &f.buffers[i]
		err := d.call("allocate pinned memory", func(e *callError) int32 {
			return d.lib.fn.hostAlloc(d.context, uint64(f.bytes), &b.pinned, e) //nolint:gosec // positive
		})
		if err == nil {
			b.staging, err = d.alloc(name, int64(f.bytes))
		}
		if err == nil {
			b.stream, err = d.newStream()
		}
		if err != nil {
			f.free()
			return nil, err
		}
	}
	return f, nil
}

func (f *feed) free() {
	for i := range f.buffers {
		b := &f.buffers[i]
		if b.stream != nil {
			_ = b.stream.wait() // nothing may be under way when its memory goes
			b.stream.free()
		}
		b.staging.free()
		if b.pinned != nil {
			_ = f.d.call("free pinned memory", func(e *callError) int32 { return f.d.lib.fn.hostRelease(f.d.context, b.pinned, e) })
			b.pinned = nil
		}
	}
}

// feedPoints reads n values on several goroutines and places them, a buffer at a time. place gives work to the buffer's stream.
func feedPoints[T any](ctx context.Context, f *feed, n int, read func(from int, dst []T) error, place func(b *feedBuffer, from int, p []T) error) error {
	var zero T
	piece := feedPiece / int(unsafe.Sizeof(zero))
	for from, turn := 0, 0; from < n; turn++ {
		b := &f.buffers[turn%len(f.buffers)]
		if err := b.stream.wait(); err != nil { // what was in the buffer before
			return err
		}
		all := unsafe.Slice((*T)(b.pinned), min(n-from, f.bytes/int(unsafe.Sizeof(zero)))) //nolint:gosec // memory that the library reads or writes
		var g errgroup.Group
		g.SetLimit(runtime.GOMAXPROCS(0))
		for at := 0; at < len(all); at += piece {
			g.Go(func() error { return read(from+at, all[at:min(at+piece, len(all))]) })
		}
		if err := g.Wait(); err != nil {
			return err
		}
		if err := place(b, from, all); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		from += len(all)
	}
	for i := range f.buffers {
		if err := f.buffers[i].stream.wait(); err != nil {
			return err
		}
	}
	return nil
}
