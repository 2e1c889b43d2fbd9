package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// web is the HTTP server of health and metrics.
type web struct {
	server *http.Server
	done   chan error
}

// listen starts the server, if an address is given.
func (h *Host) listen() (*web, error) {
	if h.Listen == "" {
		return &web{}, nil
	}
	mux := http.NewServeMux()
	h.Health.Routes(mux)
	if h.Metrics != nil {
		mux.Handle("GET /metrics", h.Metrics)
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(context.Background(), "tcp", h.Listen)
	if err != nil {
		return nil, fmt.Errorf("%s: health and metrics cannot listen on %s: %w", h.service, h.Listen, err)
	}
	w := &web{
		server: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10},
		done:   make(chan error, 1),
	}
	h.Log.Info("health and metrics", "service", h.service, "address", listener.Addr().String())
	h.address.Store(listener.Addr().String())
	go func() { w.done <- w.server.Serve(listener) }()
	return w, nil
}

// close ends the server and waits for its goroutines.
func (w *web) close() error {
	if w.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := w.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, w.server.Close())
	}
	if served := <-w.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// Address is where health and metrics are served, empty if they are not.
func (h *Host) Address() string {
	address, _ := h.address.Load().(string)
	return address
}
