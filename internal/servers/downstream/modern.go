package downstream

import (
	"context"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// This file implements the modern era, revision 2026-07-28: there is no handshake, every request carries what the
// server needs in its _meta, and the server sends no requests of its own.

// Modern reports whether the session is of the modern era.
func (s *Session) Modern() bool { return s.modern.Load() }

// beginModern begins a modern session with the server's offer.
func (s *Session) beginModern(ctx context.Context, offer wire.Payload) error {
	s.revision = protocol.Revision20260728
	s.reserved = s.modernMembers()
	s.modern.Store(true)
	s.hasTools, s.offer = offersTools(offer), offer
	if err := s.transport.beginSession(ctx, s.revision, nil); err != nil {
		return err
	}
	if wanted := s.listChanges(offer.Member("capabilities")); len(wanted) > 0 {
		return s.listen(wanted, firstPause)
	}
	return nil
}

// modernMembers returns the members that the _meta of every request must have.
func (s *Session) modernMembers() []byte {
	members := wire.AppendMember(nil, protocol.MetaProtocolVersion, string(protocol.Revision20260728))
	members = append(members, `,"`+protocol.MetaClientInfo+`":`...)
	members = append(members, s.clientInfo()...)
	members = append(members, `,"`+protocol.MetaClientCapabilities+`":`...)
	return append(members, s.capabilities()...)
}

// params returns the params of a request of the workbench itself; members is their raw JSON without braces.
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
