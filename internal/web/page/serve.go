package page

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
)

const (
	headerTime = 5 * time.Second // for the headers of a request
	idleTime   = time.Minute     // between two requests of a connection
	maxHeader  = 16 << 10        // size of the headers of a request; larger ones are refused
	closeTime  = time.Second     // for open requests when the page ends
)

// Serve serves a page alone on a listener until ctx ends, and closes the listener.
func (p *Page) Serve(ctx context.Context, listener net.Listener) error {
	gate := httpauth.NewGate(p, httpauth.GateOptions{Log: p.options.Log})
	server := &http.Server{
		Handler: Guard(gate), ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	httpauth.GuardConnections(server, p.options.Log)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	err := server.Shutdown(closing)
	if err != nil {
		err = server.Close()
	}
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}
