package front

import (
	"errors"
	"strconv"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Messages to clients are values until a transport encodes them: a pipe, an HTTP stream, or a
// batch. Nothing above a transport sees encoded messages.

// notifier sends messages that do not belong to a request of the client.
type notifier interface {
	// tryNotify does not block; it reports whether there was room for the message.
	tryNotify(message outgoing) bool
}

// replyPath sends what the client gets for one message of its own.
type replyPath interface {
	notifier
	// notify sends a message that comes before the response. It may block while the client has
	// too much to read, and fails only if the session has ended.
	notify(message outgoing) error
	// respond sends the response, which is the last message.
	respond(r response)
}

// outgoing is a notification or a request for the client.
type outgoing struct {
	id     uint64 // of a request; 0 for a notification
	method string
	params []byte // raw JSON, nil without any; not used after the message was sent
}

func (o outgoing) encode() []byte {
	if o.id > 0 {
		return wire.Request(o.id, o.method, o.params)
	}
	return wire.Notification(o.method, o.params)
}

// response is the response to a message of the client.
type response struct {
	id     []byte // as the client wrote it; nil if it is not known
	answer metatool.Answer
	batch  []byte // instead of an answer: an array of encoded responses
	isNone bool   // nothing is sent: the client cancelled its request, or expects nothing
}

var noResponse = response{isNone: true}

func resultTo(id, result []byte) response {
	return response{id: id, answer: metatool.Answer{Text: result}}
}

func errorTo(id []byte, code int, text string) response {
	return response{id: id, answer: metatool.Answer{Error: &metatool.Error{Code: code, Message: text}}}
}

// rejection is the response to a frame that holds no message.
func rejection(frame wire.Frame, reason error) response {
	if shape, ok := errors.AsType[*wire.ShapeError](reason); ok {
		return errorTo(shape.ID.Bytes(), protocol.CodeInvalidRequest, "Invalid request: "+shape.Reason)
	}
	id, _ := wire.Skim(frame.Bytes())
	return errorTo(id, protocol.CodeParseError, "Parse error: "+reason.Error())
}

// encode returns the message, nil if nothing is sent. A server's answer is passed on in the
// buffer that it arrived in, so that a response can be encoded only once.
func (r *response) encode() []byte {
	suffix := []byte(wire.Suffix)
	switch {
	case r.isNone:
		return nil
	case r.batch != nil:
		return r.batch
	}
	switch answer := r.answer.Shortened(); {
	case answer.Error != nil:
		return append(appendError(wire.AppendErrorPrefix(nil, r.id), answer.Error), suffix...)
	case answer.Cancelled != nil:
		return wire.ErrorResponse(r.id, protocol.CodeInternalError, "Request cancelled: "+answer.Cancelled.Error())
	case answer.Text != nil:
		return wire.Result(r.id, answer.Text)
	case !answer.Outcome.Error.IsAbsent():
		return answer.Outcome.Error.Wrap(wire.AppendErrorPrefix(make([]byte, 0, 64), r.id), suffix)
	default:
		return answer.Outcome.Result.Wrap(wire.AppendResultPrefix(make([]byte, 0, 64), r.id), suffix)
	}
}

// errorCode returns the code of an error response; 0 for a result.
func (r *response) errorCode() int {
	switch answer := &r.answer; {
	case answer.Error != nil:
		return answer.Error.Code
	case answer.Cancelled != nil:
		return protocol.CodeInternalError
	case answer.Text == nil && !answer.Outcome.Error.IsAbsent():
		code, _ := strconv.Atoi(string(answer.Outcome.Error.Member("code").Bytes()))
		if code == protocol.CodeTooMany { // a server means something else by it, and may have run the call
			code = protocol.CodeInternalError
		}
		return code
	}
	return 0
}

// appendError appends an error object.
func appendError(dst []byte, e *metatool.Error) []byte {
	dst = strconv.AppendInt(append(dst, `{"code":`...), int64(e.Code), 10)
	dst = wire.AppendMember(dst, "message", e.Message)
	if e.Data != nil {
		dst = append(append(dst, `,"data":`...), e.Data...)
	}
	return append(dst, '}')
}
