package front

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// capabilitiesTime is how long a client waits at most for servers that have to be connected to
// know what they can do; clients have timeouts of their own.
const capabilitiesTime = 10 * time.Second

// initialize agrees on the revision that the client asks for if it is known, and on the newest
// otherwise. The capabilities of servers may have to be found out first.
func (s *session) initialize(message wire.Message, to replyPath) {
	asked, _ := message.Params.Member("protocolVersion").Text()
	revision := protocol.Revision(asked)
	if !revision.Known() {
		revision = protocol.Newest()
	}
	// Copied: they outlive the message.
	id := bytes.Clone(message.ID.Bytes())
	mark, marked := message.Params.Member("_meta").Member(hops.Meta).Text()
	var origin *call.Origin
	if s.server.options.Answered != nil {
		origin = s.findOrigin(&message, to)
		origin.Revision = string(revision)
	}
	answer := func(r response) {
		if origin != nil {
			s.server.options.Answered(origin, answeredWith(protocol.MethodInitialize, r.answer, false))
		}
		to.respond(r)
	}
	if err := s.server.admit(mark); err != nil {
		answer(errorTo(id, protocol.CodeInvalidRequest, err.Error()))
		return
	}
	capabilities := bytes.Clone(message.Params.Member("capabilities").Bytes())
	if !s.requests.addUnnamed() {
		to.respond(noResponse)
		return
	}
	if marked {
		s.setHops(strings.Clone(mark))
	}
	s.declare(revision, capabilities)
	s.joinFleet(capabilities, message.Params.Member("clientInfo"))
	respond := func(ours []byte) {
		answer(resultTo(id, s.initializeResult(revision, ours)))
		s.requests.unanswered.Done()
	}
	if s.isUnmarked(message.Params.Member("clientInfo")) {
		respond(s.forwarder.Load().KnownCapabilities(s))
		return
	}
	ctx, cancel := context.WithTimeout(s.requests.life, capabilitiesTime)
	s.forwarder.Load().Capabilities(ctx, s, func(ours []byte) {
		cancel()
		respond(ours)
	})
}

func (s *session) initializeResult(revision protocol.Revision, capabilities []byte) []byte {
	result := wire.AppendMember([]byte("{"), "protocolVersion", string(revision))
	result = append(append(result, `,"capabilities":`...), capabilities...)
	result = append(append(result, `,"serverInfo":`...), s.server.info()...)
	result = wire.AppendMember(result, "instructions", s.surface.Load().Instructions())
	return append(result, '}')
}

// info is what the workbench says of itself.
func (s *Server) info() []byte {
	info := wire.AppendMember([]byte("{"), "name", protocol.OwnName)
	info = wire.AppendMember(info, "title", "MCP Workbench")
	info = wire.AppendMember(info, "version", s.options.Version)
	return append(info, '}')
}
