package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/config"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
	"github.com/proofmill/proofmill/pkg/client"
	"github.com/proofmill/proofmill/pkg/wire"
)

// natsSettings say how to reach the fleet's servers.
type natsSettings struct {
	URL     string          `toml:"url" doc:"NATS server, or several separated by commas"`
	Creds   string          `toml:"creds" doc:"Credentials file (JWT and key) of the NATS account"`
	NKey    string          `toml:"nkey" doc:"File with an nkey seed, where the server wants one"`
	CA      string          `toml:"ca" doc:"File of certificates to trust for TLS; empty: the system's"`
	Cert    string          `toml:"cert" doc:"File of the TLS client certificate"`
	Key     string          `toml:"key" doc:"File of the TLS client certificate's key"`
	Prefix  string          `toml:"prefix" doc:"First token of all subjects"`
	Account string          `toml:"account" doc:"Tenant that requests are made for"`
	Domain  string          `toml:"domain" doc:"JetStream domain of the fleet; empty: the server's own"`
	Timeout config.Duration `toml:"timeout" doc:"How long to wait for the first connection"`
}

func defaultNATS() natsSettings {
	return natsSettings{
		URL: nats.DefaultURL, Prefix: wire.DefaultPrefix, Account: wire.DefaultAccount, Timeout: config.Duration(10 * time.Second),
	}
}

// Validate checks what belongs together.
func (s *natsSettings) Validate() error {
	if (s.Cert == "") != (s.Key == "") {
		return fmt.Errorf("nats.cert and nats.key go together")
	}
	if s.Creds != "" && s.NKey != "" {
		return fmt.Errorf("nats.creds and nats.nkey exclude each other")
	}
	if s.Creds != "" {
		if f, err := os.Open(s.Creds); err != nil {
			return fmt.Errorf("nats.creds: %w", err)
		} else if err := f.Close(); err != nil {
			return fmt.Errorf("nats.creds: %w", err)
		}
	}
	if err := wire.ValidateAccount(s.Account); err != nil {
		return fmt.Errorf("nats.account: %w", err)
	}
	for server := range strings.SplitSeq(s.URL, ",") {
		if err := checkServer(strings.TrimSpace(server)); err != nil {
			return fmt.Errorf("nats.url: server %q: %w", wire.RedactServers(server), err)
		}
	}
	_, err := wire.NewNames(s.Prefix)
	return err
}

// checkServer says what is wrong with the address of a server, instead of trying it until the time is over.
func checkServer(server string) error {
	if !strings.Contains(server, "://") {
		server = "nats://" + server
	}
	u, err := url.Parse(server)
	if reason, ok := errors.AsType[*url.Error](err); ok {
		return reason.Err // the whole text repeats the address, perhaps with a password
	}
	switch {
	case err != nil:
		return err
	case u.Hostname() == "":
		return errors.New("a host is missing: such as nats://127.0.0.1:4222")
	case strings.Contains(u.Hostname(), ":") && !strings.HasPrefix(u.Host, "["):
		return errors.New("too many colons: an IPv6 address stands in brackets")
	case !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme):
		return fmt.Errorf("scheme %q is not known: nats, tls, ws and wss are", u.Scheme)
	}
	return nil
}

// options are the connection's credentials.
func (s *natsSettings) options() ([]nats.Option, error) {
	var options []nats.Option
	if s.Creds != "" {
		options = append(options, nats.UserCredentials(s.Creds))
	}
	if s.NKey != "" {
		option, err := nats.NkeyOptionFromSeed(s.NKey)
		if err != nil {
			return nil, exit.Wrap(exit.BadConfig, fmt.Errorf("nats.nkey: %w", err), "")
		}
		options = append(options, option)
	}
	if s.CA != "" {
		options = append(options, nats.RootCAs(s.CA))
	}
	if s.Cert != "" {
		options = append(options, nats.ClientCert(s.Cert, s.Key))
	}
	return options, nil
}

// dial connects a client to the fleet.
func (s *natsSettings) dial(ctx context.Context) (*client.Client, error) {
	options, err := s.options()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(s.Timeout))
	defer cancel()
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	c, err := client.Dial(ctx, client.Config{
		URL: s.URL, Name: "proofmill on " + host, Prefix: s.Prefix, Account: s.Account, Domain: s.Domain, Options: options,
	})
	return c, notReached(err, "start one with `proofmill up`, or say --nats URL")
}

// notReached gives an error of a first connection its hint: what the table says of its code is for pipelines that were reached once.
func notReached(err error, start string) error {
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return exit.Wrap(exit.Unavailable, err, "the server wants other credentials: say --creds FILE, or set nats.nkey")
	case errors.Is(err, wire.CodeStoreUnavailable):
		return exit.Wrap(exit.Unavailable, err, start)
	default:
		return err
	}
}

// addNATSFlags adds the flags that most people need; the others are settings.
func (a *app) addNATSFlags(command *cobra.Command) {
	a.config.Flag(command.Flags(), "nats", "nats.url")
	a.config.Flag(command.Flags(), "creds", "nats.creds")
	a.config.Flag(command.Flags(), "account", "nats.account")
}
