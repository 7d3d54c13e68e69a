package front

import (
	"bytes"
	"context"
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// handle answers one request, now or later; it does not block for long.
func (s *session) handle(ctx context.Context, message wire.Message, send sender) {
	id := message.ID.Bytes()
	switch method := string(message.Method); method {
	case protocol.MethodPing:
		send(wire.Result(id, []byte("{}")))
	case protocol.MethodToolsList, protocol.MethodToolsCall:
		switch {
		case !s.initialized():
			send(wire.ErrorResponse(id, protocol.CodeInvalidRequest,
				fmt.Sprintf("Invalid request: '%s' came before 'initialize'; begin the session with an initialize request", method)))
		case method == protocol.MethodToolsList:
			send(s.listTools(message))
		default:
			s.callTool(ctx, message, send)
		}
	default:
		send(wire.ErrorResponse(id, protocol.CodeMethodNotFound, fmt.Sprintf("Method not found: '%.200s'", method)))
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
		send(wire.ErrorResponse(message.ID.Bytes(), protocol.CodeInvalidParams,
			"Invalid params: 'name' must be a string, the name of a tool"))
		return
	}
	// The id is copied: forwarding the call uses up the buffer that it is in.
	id := bytes.Clone(message.ID.Bytes())
	s.server.options.Surface.Call(ctx, metatool.Request{
		Name:      name,
		Arguments: message.Params.Member("arguments"),
		Meta:      message.Params.Member("_meta"),
		Session:   s,
	}, func(answer metatool.Answer) { send(encode(id, answer)) })
}

// encode wraps an answer into a message. What a server answered is passed on in the very
// buffer that it arrived in.
func encode(id []byte, answer metatool.Answer) []byte {
	suffix := []byte(wire.Suffix)
	switch {
	case answer.Error != nil:
		return wire.ErrorResponse(id, answer.Error.Code, answer.Error.Message)
	case answer.Ended != nil:
		return wire.ErrorResponse(id, protocol.CodeInternalError, "Request cancelled: "+answer.Ended.Error())
	case answer.Outcome == nil:
		return wire.Result(id, answer.Text)
	case !answer.Outcome.Error.IsAbsent():
		return answer.Outcome.Error.Wrap(wire.AppendErrorPrefix(make([]byte, 0, 64), id), suffix)
	default:
		return answer.Outcome.Result.Wrap(wire.AppendResultPrefix(make([]byte, 0, 64), id), suffix)
	}
}
