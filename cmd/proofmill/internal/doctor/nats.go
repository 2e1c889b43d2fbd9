package doctor

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// NATS connects to a server and asks it for the limits of JetStream. It blocks until it has answered or ctx ends.
func NATS(ctx context.Context, url, domain string, options ...nats.Option) Check {
	c := Check{Name: "NATS", Status: OK, Details: map[string]any{"url": redacted(url)}}
	fail := func(err error, do string) Check {
		c.Status, c.Text, c.Do = Failed, err.Error(), do
		return c
	}
	// The server's own timeout would outlast an ended ctx.
	if deadline, ok := ctx.Deadline(); ok {
		options = append(options, nats.Timeout(untilDeadline(deadline)))
	}
	conn, err := nats.Connect(url, append(options, nats.Name("proofmill doctor"), nats.NoReconnect())...)
	if err != nil {
		return fail(fmt.Errorf("%s: %w", redacted(url), err), "start a server, or mend nats.url and its credentials")
	}
	defer conn.Close()
	rtt, err := conn.RTT()
	if err != nil {
		return fail(err, "look at the server's log")
	}
	c.Details["version"], c.Details["round_trip_us"] = conn.ConnectedServerVersion(), rtt.Microseconds()
	c.Text = fmt.Sprintf("%s, version %s, round trip %v", redacted(url), conn.ConnectedServerVersion(), rtt)
	js, err := jetstreamOf(conn, domain)
	if err != nil {
		return fail(err, "mend nats.domain")
	}
	account, err := js.AccountInfo(ctx)
	if err != nil {
		return fail(fmt.Errorf("JetStream: %w", err), "enable JetStream on the server and for the account")
	}
	c.Details["jetstream"] = map[string]any{
		"memory_bytes": account.Memory, "store_bytes": account.Store, "max_memory_bytes": account.Limits.MaxMemory,
		"max_store_bytes": account.Limits.MaxStore, "streams": account.Streams, "max_streams": account.Limits.MaxStreams,
	}
	c.Text += fmt.Sprintf("; JetStream holds %s of %s in %d streams", gib(account.Store), limitText(account.Limits.MaxStore), account.Streams)
	if most := account.Limits.MaxStore; most > 0 && account.Store > uint64(most)/10*9 {
		c.Status, c.Do = Warning, "raise the account's limit: the store is nearly full"
	}
	return c
}

func jetstreamOf(conn *nats.Conn, domain string) (jetstream.JetStream, error) {
	if domain == "" {
		return jetstream.New(conn)
	}
	return jetstream.NewWithDomain(conn, domain)
}

func limitText(bytes int64) string {
	if bytes < 0 {
		return "what the server has"
	}
	return gib(bytes)
}
