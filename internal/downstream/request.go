package downstream

import (
	"context"
	"fmt"
	"strconv"

	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// RPCError is a server's error response.
type RPCError struct {
	Code    int
	Message string
	Object  wire.Payload // the error as it was sent
}

func (e *RPCError) Error() string { return e.Message }

// NewRPCError reads an error response.
func NewRPCError(object wire.Payload) *RPCError {
	e := &RPCError{Object: object}
	e.Code, _ = strconv.Atoi(string(object.Member("code").Bytes()))
	e.Message, _ = object.Member("message").Text()
	if e.Message == "" {
		e.Message = "error " + strconv.Itoa(e.Code) + " without a message"
	}
	return e
}

// request sends a request of our own and waits for its result.
func (s *Session) request(ctx context.Context, method string, params []byte) (wire.Payload, error) {
	stream, err := s.open(ctx, nil, func(id uint64) []byte {
		message := wire.AppendRequestPrefix(nil, id, method)
		message = append(message, params...)
		return append(message, wire.Suffix...)
	})
	if err != nil {
		return wire.Payload{}, fmt.Errorf("could not send '%s': %w", method, err)
	}
	defer stream.Close()
	for {
		message, err := stream.Next(ctx)
		switch {
		case err != nil:
			return wire.Payload{}, fmt.Errorf("no answer to '%s': %w", method, err)
		case !message.Error.IsAbsent():
			return wire.Payload{}, fmt.Errorf("'%s' was answered with an error: %w", method, NewRPCError(message.Error))
		case message.IsResponse():
			return message.Result, nil
		}
	}
}

// ToolCall is one call of a tool on its way down.
type ToolCall struct {
	Name      string
	Arguments wire.Payload // an object; absent means {}
	Meta      wire.Payload // the client's _meta, forwarded but for its progress token; may be absent
	Budget    *wire.Budget // of the client that the answer is for; nil: no limit
}

// CallTool sends a call. The buffer behind Arguments is used up by it. The caller
// must close the stream. Nothing more than what ctx's end stops is delivered to it.
func (s *Session) CallTool(ctx context.Context, call ToolCall) (*Stream, error) {
	return s.open(ctx, call.Budget, func(id uint64) []byte {
		prefix := wire.AppendRequestPrefix(make([]byte, 0, 192), id, protocol.MethodToolsCall)
		prefix = append(prefix, `{"name":`...)
		prefix = wire.AppendString(prefix, call.Name)
		if call.Meta.Kind() == "object" {
			prefix = append(prefix, `,"_meta":`...)
			prefix = appendMeta(prefix, call.Meta, id)
		}
		prefix = append(prefix, `,"arguments":`...)
		arguments := call.Arguments
		if arguments.IsAbsent() {
			arguments = wire.Raw([]byte("{}"))
		}
		return arguments.Wrap(prefix, []byte("}"+wire.Suffix))
	})
}

// appendMeta forwards _meta with the progress token, if there is one, replaced by the
// request's id: tokens must be unique among all who share the session.
func appendMeta(dst []byte, meta wire.Payload, id uint64) []byte {
	token := meta.Member(protocol.ProgressToken)
	if token.IsAbsent() {
		return append(dst, meta.Bytes()...)
	}
	return wire.AppendEdited(dst, meta, wire.Edit{Part: token, With: strconv.AppendUint(nil, id, 10)})
}
