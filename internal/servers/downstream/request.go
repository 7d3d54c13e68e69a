package downstream

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// RPCError is a server's error response.
type RPCError struct {
	Code    int
	Message string
	Object  wire.Payload // the error as sent
}

func (e *RPCError) Error() string { return e.Message }

// NewRPCError parses an error response.
func NewRPCError(object wire.Payload) *RPCError {
	e := &RPCError{Object: object}
	e.Code, _ = strconv.Atoi(string(object.Member("code").Bytes()))
	e.Message, _ = object.Member("message").Text()
	if e.Message == "" {
		e.Message = "error " + strconv.Itoa(e.Code) + " without a message"
	}
	return e
}

// waiter is the sink of a request that a goroutine waits for.
type waiter chan answer

type answer struct {
	response wire.Message
	err      error
}

func (w waiter) Progress(wire.Message) {}

func (w waiter) Caller() Caller { return nil }

func (w waiter) Done(response wire.Message, err error) { w <- answer{response, err} }

// request sends a request of the workbench and waits for its result.
func (s *Session) request(ctx context.Context, method string, params []byte) (wire.Payload, error) {
	w := make(waiter, 1)
	id, err := s.register(w, false)
	if err != nil {
		return wire.Payload{}, fmt.Errorf("could not send '%s': %w", method, err)
	}
	message := wire.AppendRequestPrefix(nil, id, method)
	message = append(message, params...)
	s.send(outgoing{message: append(message, wire.Suffix...), id: id, method: method})
	var got answer
	select {
	case got = <-w:
	case <-ctx.Done():
		s.remove(id)
		got.err = ctx.Err()
	}
	switch {
	case got.err != nil:
		return wire.Payload{}, unanswered(method, got.err)
	case !got.response.Error.IsAbsent():
		return wire.Payload{}, fmt.Errorf("'%s' was answered with an error: %w", method, NewRPCError(got.response.Error))
	}
	return got.response.Result, nil
}

// ToolCall is a tool call to send.
type ToolCall struct {
	Name      string
	Arguments wire.Payload // an object; absent means {}
	Meta      wire.Payload // the client's _meta, forwarded without its progress token; may be absent
	Untracked bool         // Meta is known to have no progress token
	Extra     []byte       // raw JSON of further members of the params, without braces; may be nil
	Requester Requester
	Trace     *tracecontext.Carrier // for the headers of an HTTP request, _meta has it already; may be nil
}

// Requester describes the client of a request to a modern server.
type Requester struct {
	// Modern means that the client is of that era, too. Then its own _meta, if the request has one, is complete.
	Modern bool
	// LogLevel is the log level that a legacy client requests, or "".
	LogLevel string
}

// CallTool sends a call without blocking; the sink receives the answer. It consumes the buffer behind Arguments and
// Meta. On an error, nothing was sent and nothing consumed.
func (s *Session) CallTool(call ToolCall, sink Sink) (id uint64, err error) {
	id, err = s.register(sink, true)
	if err != nil {
		return 0, err
	}
	prefix := wire.AppendRequestPrefix(make([]byte, 0, 512), id, protocol.MethodToolsCall)
	prefix = append(prefix, `{"name":`...)
	prefix = wire.AppendString(prefix, call.Name)
	if call.Meta.Kind() == "object" || s.reserved != nil {
		prefix = append(prefix, `,"_meta":`...)
		var token wire.Payload
		if !call.Untracked {
			token = call.Meta.Member(protocol.ProgressToken)
		}
		prefix = s.appendMeta(prefix, call.Meta, token, id, call.Requester)
	}
	if len(call.Extra) > 0 {
		prefix = append(append(prefix, ','), call.Extra...)
	}
	prefix = append(prefix, `,"arguments":`...)
	arguments := call.Arguments
	if arguments.IsAbsent() {
		arguments = wire.Raw([]byte("{}"))
	}
	header := s.mirrored(call.Name, arguments) // before its buffer is consumed
	message := arguments.Wrap(prefix, []byte("}"+wire.Suffix))
	s.send(outgoing{message, id, protocol.MethodToolsCall, call.Name, header, call.Trace, true})
	return id, nil
}

// Forward is a request of a client to forward.
type Forward struct {
	Method    string
	Params    wire.Payload // as the client sent them; may be absent
	Edits     []wire.Edit  // of parts of Params
	Extra     []byte       // raw JSON of further members of the params, without braces; may be nil
	Name      string       // the subject of the request, for a header; "": it is in Params
	Requester Requester
	Trace     *tracecontext.Carrier // as in ToolCall
}

// Forward sends a client's request with the edits, the added members and a progress token of its own; the sink receives
// the answer. It does not block. On an error nothing was sent.
func (s *Session) Forward(request Forward, sink Sink) (id uint64, err error) {
	id, err = s.register(sink, true)
	if err != nil {
		return 0, err
	}
	if s.reserved != nil && s.handleSubscription(id, request) {
		return id, nil
	}
	out := outgoing{id: id, method: request.Method, name: request.Name, trace: request.Trace}
	if about := protocol.FindMethod(request.Method); s.reserved != nil && out.name == "" && about.InHeader {
		out.name = about.SubjectOf(request.Params)
	}
	out.message = s.forwarded(request, id)
	s.send(out)
	return id, nil
}

// forwarded returns the message of a forwarded request.
func (s *Session) forwarded(request Forward, id uint64) []byte {
	if request.Params.IsAbsent() && s.reserved == nil && len(request.Extra) == 0 {
		return wire.Request(id, request.Method, nil)
	}
	message := wire.AppendRequestPrefix(make([]byte, 0, len(request.Params.Bytes())+256), id, request.Method)
	meta := request.Params.Member("_meta")
	token := meta.Member(protocol.ProgressToken)
	edits, extra := request.Edits, request.Extra
	switch {
	case meta.Kind() == "object" && (s.reserved != nil || !token.IsAbsent()):
		edits = append(edits[:len(edits):len(edits)], wire.Edit{Part: meta, With: s.appendMeta(nil, meta, token, id, request.Requester)})
	case s.reserved != nil:
		if len(extra) > 0 {
			extra = append(extra[:len(extra):len(extra)], ',')
		}
		extra = append(extra[:len(extra):len(extra)], `"_meta":`...)
		extra = s.appendMeta(extra, wire.Payload{}, wire.Payload{}, id, request.Requester)
	}
	if len(extra) == 0 {
		return append(wire.AppendEdited(message, request.Params, edits...), wire.Suffix...)
	}
	params := wire.Raw(wire.AppendEdited(nil, request.Params, edits...))
	message = wire.AppendWithMembers(message, params, func(key string) bool { return key == "_meta" && s.reserved != nil && meta.Kind() != "object" }, extra)
	return append(message, wire.Suffix...)
}

// Send sends a request of the workbench whose answer does not matter. It does not block.
func (s *Session) Send(method string, params []byte) {
	_, _ = s.Forward(Forward{Method: method, Params: wire.Raw(params)}, make(waiter, 1)) // irrelevant if the session has ended
}

// SendsLogs reports whether the log level need not be requested: it was, the server does not log, or each request
// carries it.
func (s *Session) SendsLogs(level string) bool {
	rank, asked := int32(protocol.Severity(level))+1, s.level.Load()
	return rank == 0 || s.Modern() || asked != 0 && asked <= rank || s.Capabilities().Member("logging").IsAbsent()
}

// levelTime bounds the wait for the answer to logging/setLevel.
const levelTime = 5 * time.Second

// AskForLogs requests a log level from a legacy server, unless another client of the session has requested a more
// verbose one. It blocks until the server has answered, since it may handle messages sent in between earlier.
func (s *Session) AskForLogs(ctx context.Context, level string) {
	select {
	case s.levelLock <- struct{}{}:
		defer func() { <-s.levelLock }()
	case <-ctx.Done():
		return
	}
	if s.SendsLogs(level) {
		return
	}
	patient, cancel := context.WithTimeout(ctx, levelTime)
	defer cancel()
	_, err := s.request(patient, protocol.MethodSetLevel, append(wire.AppendMember([]byte("{"), "level", level), '}'))
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.log.Debug("the server did not accept the log level")
	}
	s.level.Store(int32(protocol.Severity(level)) + 1) // whatever the answer: the request is not repeated
}

// Notify sends a notification to the server, and returns false if the queue is full. Nil params are left out.
func (s *Session) Notify(method string, params []byte) bool {
	return s.reply(wire.Notification(method, params))
}

// appendMeta appends _meta with the progress token, if any, replaced by the request's id: tokens must be unique among
// all who share the session. In the modern era it replaces hop-by-hop keys by the workbench's own, unless the client is
// modern, too.
func (s *Session) appendMeta(dst []byte, meta, token wire.Payload, id uint64, asker Requester) []byte {
	complete := s.reserved == nil || asker.Modern && meta.Kind() == "object"
	switch {
	case complete && token.IsAbsent():
		return append(dst, meta.Bytes()...)
	case complete:
		return wire.AppendEdited(dst, meta, wire.Edit{Part: token, With: strconv.AppendUint(nil, id, 10)})
	}
	extra := s.reserved
	if asker.LogLevel != "" {
		extra = wire.AppendMember(extra[:len(extra):len(extra)], protocol.MetaLogLevel, asker.LogLevel)
	}
	if !token.IsAbsent() {
		extra = append(extra[:len(extra):len(extra)], `,"`+protocol.ProgressToken+`":`...)
		extra = strconv.AppendUint(extra, id, 10)
	}
	return wire.AppendWithMembers(dst, meta, func(key string) bool {
		return protocol.IsHopByHop(key) || key == protocol.ProgressToken
	}, extra)
}
