package front

import (
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// TraceOrigin implements call.Originated.
func (r *request) TraceOrigin() *call.Origin { return r.origin }

// findOrigin returns how a request came here, for its trace.
func (s *session) findOrigin(message *wire.Message, to replyPath) *call.Origin {
	origin := &call.Origin{
		Method: strings.Clone(string(message.Method)), RequestID: string(message.ID.Bytes()), Revision: string(s.revision()), Began: time.Now(),
		Meta: tracecontext.FromMeta(message.Params.Member("_meta")),
	}
	if s.stateless != nil {
		origin.Revision = string(protocol.Revision20260728)
	}
	if st := streamOf(to); st != nil {
		origin.Header, origin.OverHTTP = st.trace, true
	}
	return origin
}

// streamOf returns the stream that a response takes, perhaps with others of its batch; nil over stdio.
func streamOf(to replyPath) *stream {
	if b, ok := to.(*batch); ok {
		to = b.to
	}
	st, _ := to.(*stream)
	return st
}

// traceAnswer tells how a request was answered. origin is that of the message which gets the answer: for a call that was
// suspended, it is another message than the one that began it.
func (r *request) traceAnswer(origin *call.Origin, answer metatool.Answer, cancelled bool) {
	if origin != r.origin {
		if part, ok := r.origin.Routed(); ok {
			part.Trace = nil // it is told with the message that began it
			origin.Route(part)
		}
	}
	r.session.server.options.Answered(origin, answeredWith(r.method, answer, cancelled))
}

// answeredWith reads from an answer how the request ended.
func answeredWith(method string, answer metatool.Answer, cancelled bool) call.Answer {
	switch {
	case cancelled, answer.Cancelled != nil:
		return call.Answer{Status: call.StatusCancelled, ErrorType: "cancelled"}
	case answer.Error != nil:
		return call.Answer{Status: call.StatusRPCError, ErrorType: strconv.Itoa(answer.Error.Code)}
	case !answer.Outcome.Error.IsAbsent():
		return call.Answer{Status: call.StatusRPCError, ErrorType: call.ErrorType(answer.Outcome.Error)}
	case !answer.Outcome.Result.IsAbsent():
		return call.Answer{}
	}
	text := wire.Raw(answer.Text)
	if kind, _ := text.Member(protocol.ResultType).Text(); kind == protocol.ResultInputRequired {
		return call.Answer{Status: call.StatusInputRequired}
	}
	if method == protocol.MethodToolsCall && string(text.Member("isError").Bytes()) == "true" {
		return call.Answer{Status: call.StatusToolError, ErrorType: "tool_error"}
	}
	return call.Answer{Status: call.StatusOK}
}
