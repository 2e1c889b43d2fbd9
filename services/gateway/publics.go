package gateway

import (
	"container/list"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/wire"
)

// publicsCache keeps the public inputs of jobs under way, so that their inputs are opened once in a gateway's life. They depend on the
// job's content only. Those used longest ago leave first and are derived again when needed.
type publicsCache struct {
	limit int64

	mu    sync.Mutex
	known map[wire.JobKey]*list.Element // of *publicsEntry
	order *list.List
	bytes int64
}

type publicsEntry struct {
	key        wire.JobKey
	partitions [][]fr.Element
	bytes      int64
}

func newPublicsCache(limit int64) *publicsCache {
	return &publicsCache{limit: limit, known: make(map[wire.JobKey]*list.Element), order: list.New()}
}

// get gives the public inputs of each partition, nil if they are not kept.
func (c *publicsCache) get(key wire.JobKey) [][]fr.Element {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.known[key]
	if !ok {
		return nil
	}
	c.order.MoveToFront(at)
	e, _ := at.Value.(*publicsEntry)
	return e.partitions
}

func (c *publicsCache) put(key wire.JobKey, partitions [][]fr.Element) {
	e := &publicsEntry{key: key, partitions: partitions}
	for _, p := range partitions {
		e.bytes += int64(len(p)) * fr.Bytes
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.known[key]; ok {
		c.remove(at)
	}
	c.known[key] = c.order.PushFront(e)
	c.bytes += e.bytes
	for c.bytes > c.limit && c.order.Len() > 1 {
		c.remove(c.order.Back())
	}
}

func (c *publicsCache) drop(key wire.JobKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.known[key]; ok {
		c.remove(at)
	}
}

// remove takes an entry out. The lock is held.
func (c *publicsCache) remove(at *list.Element) {
	e, _ := c.order.Remove(at).(*publicsEntry)
	delete(c.known, e.key)
	c.bytes -= e.bytes
}
