package sample

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// eachChunk is how many items a worker takes at a time: a few milliseconds of hashes.
const eachChunk = 32

// each calls do for 0 to n-1 on up to workers goroutines (all processors if 0). It ends with ctx, after at most a chunk
// for each worker.
func each(ctx context.Context, workers, n int, do func(i int)) error {
	var next atomic.Int64
	g, running := errgroup.WithContext(ctx)
	for range min(workersOf(workers), (n+eachChunk-1)/eachChunk) {
		g.Go(func() error {
			for running.Err() == nil {
				end := int(next.Add(eachChunk))
				if end-eachChunk >= n {
					return nil
				}
				for i := end - eachChunk; i < min(end, n); i++ {
					do(i)
				}
			}
			return running.Err()
		})
	}
	return g.Wait()
}

func workersOf(n int) int {
	if n <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return n
}
