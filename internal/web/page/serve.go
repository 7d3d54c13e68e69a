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
		Handler: Guard(p.fromFile(gate)), ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	httpauth.GuardConnections(server, nil, p.options.Log)
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

// fromFile lets a browser follow a link of a file to the index, which has no secret. It names a file as another site, of
// which the gate refuses everything.
func (p *Page) fromFile(gate http.Handler) http.Handler {
	if !p.options.FromFile {
		return gate
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.Path == Path && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" {
			r = r.Clone(r.Context())
			r.Header.Del("Sec-Fetch-Site")
		}
		gate.ServeHTTP(w, r)
	})
}
