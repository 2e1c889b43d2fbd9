package gpu

import (
	"fmt"
	"math/bits"
	"sync"
)

// domains are the evaluation domains of a device. Their tables take twice the memory of a transform, so circuits of one size share them.
type domains struct {
	mu   sync.Mutex
	held map[int]*domain
}

// domain is an evaluation domain of 2^logN points with its tables.
type domain struct {
	logN   int
	handle uintptr
	tables *buffer
	users  int
}

func (g *domain) size() int64 { return 1 << g.logN }

// logOf is the log2 of the domain that n constraints need.
func logOf(n int) int { return bits.Len(uint(n - 1)) }

// takeDomain makes a domain, or shares the one there is. Give it back with releaseDomain. It blocks until the tables are computed.
func (d *Device) takeDomain(logN int) (*domain, error) {
	d.domains.mu.Lock()
	defer d.domains.mu.Unlock()
	if g, ok := d.domains.held[logN]; ok {
		g.users++
		return g, nil
	}
	g := &domain{logN: logN, users: 1}
	var bytes uint64
	err := d.call("make domain", func(e *callError) int32 {
		return d.lib.fn.domainCreate(d.context, int32(logN), &g.handle, &bytes, e) //nolint:gosec // counts and sizes are far below the limit
	})
	if err != nil {
		return nil, err
	}
	if err := d.fillDomain(g, int64(bytes)); err != nil {
		d.lib.fn.domainFree(g.handle)
		g.tables.free()
		return nil, err
	}
	if d.domains.held == nil {
		d.domains.held = make(map[int]*domain)
	}
	d.domains.held[logN] = g
	return g, nil
}

func (d *Device) fillDomain(g *domain, bytes int64) (err error) {
	if g.tables, err = d.alloc(fmt.Sprintf("tables of domain 2^%d", g.logN), bytes); err != nil {
		return err
	}
	s, err := d.newStream()
	if err != nil {
		return err
	}
	defer s.free()
	if err := d.call("fill domain", func(e *callError) int32 { return d.lib.fn.domainFill(g.handle, s.handle, g.tables.addr, e) }); err != nil {
		return err
	}
	return s.wait()
}

func (d *Device) releaseDomain(g *domain) {
	if g == nil {
		return
	}
	d.domains.mu.Lock()
	defer d.domains.mu.Unlock()
	if g.users--; g.users == 0 {
		delete(d.domains.held, g.logN)
		d.lib.fn.domainFree(g.handle)
		g.tables.free()
	}
}
