package gateway

import (
	"context"

	"github.com/nats-io/nats.go"

	"github.com/proofmill/proofmill/services/internal/host"
)

// connections receives after each time that the connection came back, until forget is called or the connection is closed for good.
func (s *Service) connections() (connected <-chan nats.Status, forget func()) {
	status := s.conn.NATS().StatusChanged(nats.CONNECTED)
	return status, func() { s.conn.NATS().RemoveStatusListener(status) }
}

// keepStreams makes again what a server has lost that was restarted: the streams and buckets in memory, without which no worker
// learns what the others serve. It blocks until ctx ends.
func (s *Service) keepStreams(ctx context.Context, connected <-chan nats.Status) error {
	for {
		select {
		case _, open := <-connected:
			if !open {
				return nil
			}
			if err := host.Retry(ctx, s.host.Log, "streams", func() error { return s.conn.Setup(ctx) }); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}
