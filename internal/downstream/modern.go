package downstream

import (
	"context"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// This file is about the modern era, revision 2026-07-28: there is no handshake, every
// request says in its _meta what it needs, and the server sends no requests of its own.

// Modern reports whether the session is of the modern era.
func (s *Session) Modern() bool { return s.modern.Load() }

// adopt begins a session of the modern era with what the server offers.
func (s *Session) adopt(ctx context.Context, offer wire.Payload) error {
	s.revision = protocol.Revision20260728
	s.reserved = s.modernMembers()
	s.modern.Store(true)
	tools := offer.Member("capabilities").Member("tools")
	s.hasTools = tools.Kind() == "object"
	if err := s.transport.begin(ctx, s.revision, nil); err != nil {
		return err
	}
	if string(tools.Member("listChanged").Bytes()) != "true" || s.options.ToolsChanged == nil {
		return nil
	}
	return s.listen(firstListenPause)
}

// modernMembers are the members that the _meta of every request has to have.
func (s *Session) modernMembers() []byte {
	members := wire.AppendMember(nil, protocol.MetaProtocolVersion, string(protocol.Revision20260728))
	members = append(members, `,"`+protocol.MetaClientInfo+`":`...)
	members = append(members, s.clientInfo()...)
	return append(members, `,"`+protocol.MetaClientCapabilities+`":{}`...)
}

// params builds the params of a request of our own; members is the raw text of what they
// hold, without braces.
func (s *Session) params(members []byte) []byte {
	params := append([]byte("{"), members...)
	if s.reserved != nil {
		if len(members) > 0 {
			params = append(params, ',')
		}
		params = append(params, `"_meta":{`...)
		params = append(append(params, s.reserved...), '}')
	}
	return append(params, '}')
}

// The pause before a subscription that ended is made again doubles from the first to the
// last, and starts over after one that lasted.
const (
	firstListenPause = time.Second
	lastListenPause  = 10 * time.Second
)

// listen subscribes to changes of the tools, which the server does not tell otherwise.
// The request stays in flight as long as the session, unless the server ends it; pause is
// how long to wait then.
func (s *Session) listen(pause time.Duration) error {
	id, err := s.register(subscription{session: s, began: time.Now(), pause: pause}, false)
	if err != nil {
		return err
	}
	message := wire.AppendRequestPrefix(nil, id, protocol.MethodListen)
	message = append(message, s.params([]byte(`"notifications":{"toolsListChanged":true}`))...)
	s.transport.send(outgoing{message: append(message, wire.Suffix...), id: id, method: protocol.MethodListen})
	return nil
}

// listenAgain subscribes again after a pause. What changed until then nobody told.
func (s *Session) listenAgain(pause time.Duration) {
	s.run(func() { // unless the subscription ended with the session
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.life.Done():
			return
		}
		if s.listen(min(2*pause, lastListenPause)) == nil {
			s.options.ToolsChanged()
		}
	})
}

// subscription is the sink of the subscription.
type subscription struct {
	session *Session
	began   time.Time
	pause   time.Duration // before the next one, if this one does not last
}

func (subscription) Progress(wire.Message) {}

func (l subscription) Done(response wire.Message, err error) {
	if err == nil && !response.Error.IsAbsent() {
		// It refused, and would again. Its tools stay as they were last read.
		l.session.log.Debug("the server does not tell changes of its tools", "reason", NewRPCError(response.Error))
		return
	}
	if time.Since(l.began) >= lastListenPause {
		l.pause = firstListenPause
	}
	l.session.listenAgain(l.pause)
}
