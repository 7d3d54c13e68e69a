package front

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/call"
	"github.com/mcp-workbench/mcp-workbench/internal/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// handle answers one request.
func (s *session) handle(ctx context.Context, message wire.Message, send sender) {
	id := message.ID.Bytes()
	switch method := string(message.Method); method {
	case protocol.MethodPing:
		s.reply(ctx, send, wire.Result(id, []byte("{}")))
	case protocol.MethodToolsList, protocol.MethodToolsCall:
		if !s.initialized() {
			s.reply(ctx, send, wire.ErrorResponse(id, protocol.CodeInvalidRequest,
				fmt.Sprintf("Invalid request: '%s' came before 'initialize'; begin the session with an initialize request", method)))
			return
		}
		if method == protocol.MethodToolsList {
			s.reply(ctx, send, s.listTools(message))
			return
		}
		s.callTool(ctx, message, send)
	default:
		s.reply(ctx, send, wire.ErrorResponse(id, protocol.CodeMethodNotFound, fmt.Sprintf("Method not found: '%.200s'", method)))
	}
}

func (s *session) initialized() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision != ""
}

// initialize agrees on the revision that the client asks for if we know it, and on the
// newest otherwise.
func (s *session) initialize(message wire.Message) []byte {
	asked, _ := message.Params.Member("protocolVersion").Text()
	revision := protocol.Revision(asked)
	if !revision.Known() {
		revision = protocol.Newest()
	}
	s.mu.Lock()
	s.revision = revision
	s.mu.Unlock()

	result := wire.AppendMember([]byte("{"), "protocolVersion", string(revision))
	result = append(result, `,"capabilities":{"tools":{"listChanged":true}},"serverInfo":{`...)
	result = wire.AppendMember(result, "name", "mcp-workbench")
	result = wire.AppendMember(result, "title", "MCP Workbench")
	result = wire.AppendMember(result, "version", s.server.options.Version)
	result = append(result, '}')
	result = wire.AppendMember(result, "instructions", s.server.options.Surface.Instructions())
	return wire.Result(message.ID.Bytes(), append(result, '}'))
}

func (s *session) listTools(message wire.Message) []byte {
	if cursor := message.Params.Member("cursor"); cursor.Kind() == "string" {
		return wire.ErrorResponse(message.ID.Bytes(), protocol.CodeInvalidParams, "Invalid params: unknown cursor; the list has one page")
	}
	return wire.Result(message.ID.Bytes(), s.server.options.Surface.List(s))
}

func (s *session) callTool(ctx context.Context, message wire.Message, send sender) {
	name, ok := message.Params.Member("name").Text()
	if !ok {
		s.reply(ctx, send, wire.ErrorResponse(message.ID.Bytes(), protocol.CodeInvalidParams,
			"Invalid params: 'name' must be a string, the name of a tool"))
		return
	}
	// The id is copied: forwarding the call uses up the buffer that it is in.
	id := bytes.Clone(message.ID.Bytes())
	reply, err := s.server.options.Surface.Call(ctx, metatool.Request{
		Name:      name,
		Arguments: message.Params.Member("arguments"),
		Meta:      message.Params.Member("_meta"),
		Session:   s,
	})
	if err != nil {
		if _, cancelled := errors.AsType[call.Cancelled](err); !cancelled {
			// The request's own context has ended, and the client waits all the same.
			s.reply(context.WithoutCancel(ctx), send, wire.ErrorResponse(id, protocol.CodeInternalError, "Request cancelled: "+err.Error()))
		}
		return
	}
	defer reply.Close()
	s.reply(ctx, send, encode(id, reply))
}

// encode wraps a reply into a message. What a server answered is passed on in the very
// buffer that it arrived in.
func encode(id []byte, reply metatool.Reply) []byte {
	suffix := []byte(wire.Suffix)
	switch {
	case reply.Error != nil:
		return wire.ErrorResponse(id, reply.Error.Code, reply.Error.Message)
	case reply.Outcome == nil:
		return wire.Result(id, reply.Text)
	case !reply.Outcome.Error.IsAbsent():
		return reply.Outcome.Error.Wrap(wire.AppendErrorPrefix(make([]byte, 0, 64), id), suffix)
	default:
		return reply.Outcome.Result.Wrap(wire.AppendResultPrefix(make([]byte, 0, 64), id), suffix)
	}
}
