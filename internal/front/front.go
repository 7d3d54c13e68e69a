// Package front is the MCP server that clients see: it reads their requests, answers
// them, and keeps what belongs to one client's session.
package front

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// Options say what a server serves.
type Options struct {
	Surface    *metatool.Surface // at first; see Change
	Version    string            // told to clients
	MaxMessage int               // limit in bytes of one message; default wire.DefaultLimit
	Log        *slog.Logger      // default: discard
}

// Server serves the same surface to every client.
type Server struct {
	options Options
	surface atomic.Pointer[metatool.Surface]

	mu       sync.Mutex
	sessions map[*session]struct{}
}

// New makes a server.
func New(options Options) *Server {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{options: options, sessions: make(map[*session]struct{})}
	s.surface.Store(options.Surface)
	return s
}

// Change changes what is served, to the surface that change returns. Clients are told if
// that changes their list of tools.
func (s *Server) Change(change func() *metatool.Surface) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := make(map[*session][]byte, len(s.sessions))
	for client := range s.sessions {
		before[client] = s.surface.Load().List(client)
	}
	s.surface.Store(change())
	for client, list := range before {
		if !bytes.Equal(list, s.surface.Load().List(client)) {
			s.tellChanged(client)
		}
	}
}

// ToolsChanged tells clients that opened the toolbox that its tools changed.
func (s *Server) ToolsChanged(toolbox string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for client := range s.sessions {
		if client.IsOpen(toolbox) {
			s.tellChanged(client)
		}
	}
}

func (s *Server) tellChanged(client *session) {
	if !client.writer.TryWrite(wire.Notification(protocol.NotifyToolsList, nil)) {
		s.options.Log.Warn("client was not told that tools changed: it does not read")
	}
}

// How a session ends, in at most the sum of these.
const (
	answerTime = 2 * time.Second        // for requests that were read already
	cancelTime = 200 * time.Millisecond // for those that were cancelled then
	flushTime  = 200 * time.Millisecond // for answers that wait to be written
	readTime   = 100 * time.Millisecond // for a read that is under way
)

// ServeStdio serves one client until it closes its side or ctx ends, and answers what
// was read by then. It closes both in and out.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	client := newSession(s, out)
	s.mu.Lock()
	s.sessions[client] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.sessions, client)
		s.mu.Unlock()
	}()

	ended := make(chan error, 1)
	go func() { ended <- client.read(in) }()
	var err error
	select {
	case err = <-ended:
		ended <- nil
	case <-ctx.Done():
		s.options.Log.Info("shutting down", "reason", context.Cause(ctx))
	case <-client.writer.Closed():
		err = client.writer.Err()
	}
	client.end()
	out.Close()
	stopReading(in, ended)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// stopReading ends the client's reader. Where the system cannot end a read that is under
// way, as with a console, closing waits as well, and both are left to the program's end.
func stopReading(in io.Closer, ended <-chan error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		in.Close()
		<-ended
	}()
	patience := time.NewTimer(readTime)
	defer patience.Stop()
	select {
	case <-done:
	case <-patience.C:
	}
}
