package downstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// This file begins a new session with a server that has forgotten the old one, after a timeout or a restart.

// renewTime bounds the start of a new session with a server that forgot the old one.
const renewTime = 30 * time.Second

// ErrReplaced means that the server has changed in a way that ends the session.
var ErrReplaced = errors.New("the server began a new session with another revision or other capabilities")

// renewal is a new session being started, shared by all who need it.
type renewal struct {
	done chan struct{}
	err  error // set before done is closed
}

// current returns the id of the server's session. It waits for a renewal in progress.
func (t *streamable) current(ctx context.Context) (string, error) {
	t.mu.Lock()
	r, id := t.renewal, t.id
	t.mu.Unlock()
	if r == nil {
		return id, nil
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.id, r.err
}

// renew replaces a stale session, unless that has been done. It blocks until there is a new one.
func (t *streamable) renew(ctx context.Context, stale string) error {
	t.mu.Lock()
	r := t.renewal
	if r == nil && t.id != stale {
		t.mu.Unlock()
		return nil // another request has done it
	}
	if r == nil {
		r = &renewal{done: make(chan struct{})}
		t.renewal = r
		t.session.run(func() { t.runRenewal(r) })
	}
	t.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *streamable) runRenewal(r *renewal) {
	t.session.log.Info("the server's session expired; beginning a new one")
	ctx, cancel := context.WithTimeout(t.session.life, renewTime)
	defer cancel()
	err := t.session.repeatHandshake(ctx)
	if err != nil {
		err = fmt.Errorf("the server's session expired, and a new one could not be started: %w", err)
	}
	t.mu.Lock()
	t.renewal = nil
	r.err = err
	t.mu.Unlock()
	close(r.done)
}

// repeatHandshake repeats the handshake with a known server. The negotiated result must be the same, since calls rely on it.
func (s *Session) repeatHandshake(ctx context.Context) error {
	result, err := s.initialize(ctx)
	if err != nil {
		return err
	}
	revision, _ := result.Member("protocolVersion").Text()
	if protocol.Revision(revision) != s.revision || offersTools(result) != s.hasTools {
		s.finish(ErrReplaced)
		return ErrReplaced
	}
	if err := s.confirm(ctx); err != nil {
		return err
	}
	s.level.Store(0) // a new session has no log level set
	if s.options.ToolsChanged != nil {
		s.options.ToolsChanged()
	}
	for _, list := range lists { // changes in between were not reported
		if list.notice != protocol.NotifyToolsList && !s.Capabilities().Member(list.capability).IsAbsent() {
			s.handleNotification(wire.Message{Method: []byte(list.notice)}, 0)
		}
	}
	return nil
}
