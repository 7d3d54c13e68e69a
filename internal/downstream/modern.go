package downstream

import (
	"context"
	"errors"
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
	s.hasTools, s.offer = offersTools(offer), offer
	if err := s.transport.begin(ctx, s.revision, nil); err != nil {
		return err
	}
	if string(offer.Member("capabilities").Member("tools").Member("listChanged").Bytes()) != "true" || s.options.ToolsChanged == nil {
		return nil
	}
	return s.listen(firstPause)
}

// modernMembers are the members that the _meta of every request has to have.
func (s *Session) modernMembers() []byte {
	members := wire.AppendMember(nil, protocol.MetaProtocolVersion, string(protocol.Revision20260728))
	members = append(members, `,"`+protocol.MetaClientInfo+`":`...)
	members = append(members, s.clientInfo()...)
	members = append(members, `,"`+protocol.MetaClientCapabilities+`":`...)
	return append(members, s.capabilities()...)
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

// listen subscribes to changes of the tools, which the server does not tell otherwise.
// The request stays in flight as long as the session, unless the server or the connection
// ends it; next is how long to wait then.
func (s *Session) listen(next time.Duration) error {
	id, err := s.register(subscription{session: s, began: time.Now(), next: next}, false)
	if err != nil {
		return err
	}
	message := wire.AppendRequestPrefix(nil, id, protocol.MethodListen)
	message = append(message, s.params([]byte(`"notifications":{"toolsListChanged":true}`))...)
	s.transport.send(outgoing{message: append(message, wire.Suffix...), id: id, method: protocol.MethodListen})
	return nil
}

// subscription is the sink of the subscription.
type subscription struct {
	session *Session
	began   time.Time
	next    time.Duration // the pause before it is made again, if this one does not last
}

func (subscription) Progress(wire.Message) {}

func (subscription) Caller() Caller { return nil }

// Done subscribes once more, and takes the tools for changed: nobody told meanwhile. A
// server that refused would do so again; its tools stay as they were last read.
func (l subscription) Done(response wire.Message, err error) {
	s := l.session
	status, _ := errors.AsType[*StatusError](err)
	if status != nil && status.Code < 500 || err == nil && !response.Error.IsAbsent() {
		s.log.Debug("the server does not tell changes of its tools")
		return
	}
	if time.Since(l.began) >= lastPause {
		l.next = firstPause
	}
	s.run(func() {
		if pause(s.life, l.next) && s.listen(min(2*l.next, lastPause)) == nil {
			s.options.ToolsChanged()
		}
	})
}
