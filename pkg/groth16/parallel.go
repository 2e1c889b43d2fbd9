package groth16

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// processors is workers, or the number of processors if it is not positive.
func processors(workers int) int {
	if workers > 0 {
		return workers
	}
	return runtime.GOMAXPROCS(0)
}

// each calls f(0) to f(n-1) on up to workers goroutines; start makes the f of each goroutine. It
// returns when all calls are done.
func each(n, workers int, start func() func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, processors(workers)) {
		wg.Go(func() {
			f := start()
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	wg.Wait()
}
