package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/proofmill/proofmill/pkg/wire"
)

// RunHeartbeat keeps this process's entry in the fleet: it writes what describe returns at once, then every FleetBeat, and whenever
// changed receives, until ctx ends; then it removes the entry. It blocks; the caller owns the goroutine. An entry that is not
// refreshed is gone after FleetAge. changed may be nil.
func (c *Conn) RunHeartbeat(ctx context.Context, describe func() *wire.WorkerInfo, changed <-chan struct{}) error {
	kv, err := c.js.KeyValue(ctx, c.names.BucketFleet())
	if err != nil {
		return classify(fmt.Errorf("fleet: bucket %s: start a gateway first: %w", c.names.BucketFleet(), err))
	}
	ticker := time.NewTicker(FleetBeat)
	defer ticker.Stop()
	for {
		info := describe()
		info.Seen = wire.MillisOf(time.Now())
		data, err := wire.Encode(info)
		if err != nil {
			return err
		}
		beat, cancel := context.WithTimeout(ctx, FleetBeat)
		if _, err := kv.Put(beat, info.Name, data); err != nil && ctx.Err() == nil {
			c.log.Warn("fleet: heartbeat not stored", "err", err)
		}
		cancel()
		select {
		case <-ticker.C:
		case <-changed:
		case <-ctx.Done():
			c.leaveFleet(context.WithoutCancel(ctx), kv, info.Name)
			return nil
		}
	}
}

// leaveFleet removes an entry of the fleet, so that nobody counts on a process that ends.
func (c *Conn) leaveFleet(ctx context.Context, kv jetstream.KeyValue, name string) {
	ctx, cancel := context.WithTimeout(ctx, pullTimeout)
	defer cancel()
	if err := kv.Purge(ctx, name); err != nil && c.Connected() {
		c.log.Warn("fleet: entry not removed, it ends by itself", "err", err)
	}
}

// Fleet lists the processes whose heartbeats are fresh, in no order.
func (c *Conn) Fleet(ctx context.Context) ([]*wire.WorkerInfo, error) {
	kv, err := c.js.KeyValue(ctx, c.names.BucketFleet())
	if err != nil {
		return nil, classify(fmt.Errorf("fleet: %w", err))
	}
	watcher, err := kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, classify(fmt.Errorf("fleet: %w", err))
	}
	defer func() { _ = watcher.Stop() }() // fails only on a closed connection
	var all []*wire.WorkerInfo
	for {
		select {
		case entry, ok := <-watcher.Updates():
			if !ok {
				return nil, wire.Errorf(wire.CodeStoreUnavailable, "fleet: %w", errors.New("the watch ended"))
			}
			if entry == nil { // the end of what was there
				return all, nil
			}
			info := new(wire.WorkerInfo)
			if err := wire.Decode(entry.Value(), info); err != nil {
				c.log.Warn("fleet: entry not read", "key", entry.Key(), "err", err)
				continue
			}
			all = append(all, info)
		case <-ctx.Done():
			return nil, classify(fmt.Errorf("fleet: %w", ctx.Err()))
		}
	}
}
