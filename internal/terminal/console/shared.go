package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

// This file handles sessions with the shared workbench.

// Dial connects to the shared workbench, for a session that sees only the given servers; nil: all.
// It returns ErrNotShared if there is none.
type Dial func(ctx context.Context, servers []toolbox.Ref) (Conn, error)

// Conn is a connection to a workbench. Close ends a pending read.
type Conn interface {
	io.ReadWriteCloser
	// CloseWrite closes the sending direction.
	CloseWrite() error
}

// ErrNotShared is the error if there is no shared workbench.
var ErrNotShared = errors.New("no workbench is shared")

// endTime is the time limit for a shared workbench to end a session.
const endTime = 5 * time.Second

type serveFunc func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error

// OpenShared opens a session that sees only some servers (nil: all) with the shared workbench, or
// else with one of its own. It must be closed.
func (c *Console) OpenShared(ctx context.Context, servers []place, handlers Handlers) (*Session, error) {
	if session, err := c.join(ctx, servers, handlers); session != nil || err != nil {
		return session, err
	}
	cfg := c.Config
	if servers != nil {
		cfg = restrictTo(c.Config, servers)
	}
	return c.Open(ctx, cfg, handlers)
}

// join opens a session with the shared workbench. Without one, session is nil, and the command no longer tries it.
func (c *Console) join(ctx context.Context, servers []place, handlers Handlers) (session *Session, err error) {
	if c.Dial == nil {
		return nil, nil
	}
	session, err = c.dial(ctx, servers, handlers)
	if err == nil || ctx.Err() != nil {
		return session, err
	}
	if !errors.Is(err, ErrNotShared) {
		fmt.Fprintf(c.Err, "mcp-workbench: the shared workbench cannot be used, so this command starts its servers itself: %s\n", tty.Clean(err.Error()))
	}
	c.Dial = nil
	return nil, nil
}

func (c *Console) dial(ctx context.Context, servers []place, handlers Handlers) (*Session, error) {
	var refs []toolbox.Ref
	for _, at := range servers {
		refs = append(refs, toolbox.Ref{Toolbox: at.Toolbox, Server: at.Server})
	}
	conn, err := c.Dial(ctx, refs)
	if err != nil {
		return nil, err
	}
	client, err := c.connect(ctx, c.Config, serveOver(conn), handlers)
	if err != nil {
		return nil, err
	}
	return &Session{client: client}, nil
}

// serveOver serves a client through a connection to another process.
func serveOver(conn Conn) serveFunc {
	return func(_ context.Context, in io.ReadCloser, out io.WriteCloser) error {
		var sending sync.WaitGroup
		var patience *time.Timer
		sending.Go(func() {
			_, _ = io.Copy(conn, in) // the end of the connection is detected below
			patience = time.AfterFunc(endTime, func() { _ = conn.Close() })
			_ = conn.CloseWrite()
		})
		_, _ = io.Copy(out, conn) // pending requests then fail
		_, _ = conn.Close(), in.Close()
		sending.Wait()
		patience.Stop()
		return out.Close()
	}
}

// connectShared lets the shared workbench connect servers, and returns why some failed. The time limit is that of app.Patience; a
// refresh waits for all. others reports that other servers are already known. It returns false without such a workbench.
func (c *Console) connectShared(ctx context.Context, wanted []place, refresh, others bool) (reasons map[place]error, ok bool, err error) {
	handlers := Handlers{
		// As in a call, so that every callable tool is listed.
		Elicit: func(context.Context, wire.Payload) ([]byte, error) { return []byte(`{"action":"decline"}`), nil },
		Roots:  func() []string { return nil },
	}
	first, err := c.join(ctx, wanted[:1], handlers)
	if first == nil || err != nil {
		return nil, false, err
	}
	servers := make([]app.KnownServer, len(wanted))
	for i, at := range wanted {
		servers[i] = app.KnownServer{Toolbox: at.Toolbox, Server: at.Server}
	}
	connected := c.connecting(servers)
	within, judge := ctx, func(err error) error { return err }
	if !refresh {
		var patience *app.Patience
		within, patience = app.NewPatience(ctx, others)
		defer patience.End()
		judge = patience.Judge
	}
	var mu sync.Mutex
	reasons = make(map[place]error)
	var connecting sync.WaitGroup
	for i, at := range wanted {
		connecting.Go(func() {
			session, err := first, error(nil)
			if i > 0 {
				session, err = c.dial(within, []place{at}, handlers)
			}
			known := servers[i]
			if err == nil {
				known.Tools, err = session.offeredBy(within, at)
				err = errors.Join(err, session.Close(ctx))
			}
			mu.Lock()
			defer mu.Unlock()
			if known.Err = judge(err); known.Err != nil {
				reasons[at] = known.Err
			}
			servers[i] = known
			connected(i, known)
		})
	}
	connecting.Wait()
	c.printNotAwaited(servers)
	return reasons, true, ctx.Err()
}

// offeredBy connects the only server of a session and returns its tools.
func (s *Session) offeredBy(ctx context.Context, at place) ([]catalog.Tool, error) {
	answer, err := s.Ask(ctx, "open_toolbox", map[string]any{"toolbox": at.Toolbox, "detail": "full"})
	if failed, ok := errors.AsType[*ResultError](err); ok {
		prefix := fmt.Sprintf("Failed to connect to server '%s' in toolbox '%s': ", at.Server, at.Toolbox)
		if _, reason, found := strings.Cut(failed.Text, prefix); found {
			return nil, errors.New(reason)
		}
	}
	if err != nil {
		return nil, err
	}
	offer, err := Offered(answer)
	if err != nil {
		return nil, err
	}
	var tools []catalog.Tool
	for _, tool := range offer.Tools {
		tools = append(tools, tool.Tool)
	}
	return tools, nil
}
