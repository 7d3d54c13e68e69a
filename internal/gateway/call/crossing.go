package call

import (
	"bytes"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/era"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// This file translates requests between the protocol eras. The layers above do not know the era of the server, those
// below not that of the client.

// crossing is the direction of a translation.
type crossing uint8

const (
	sameEra  crossing = iota // no translation
	toLegacy                 // from a modern client to a legacy server
	toModern                 // from a legacy client to a modern server
)

func crossingOf(client Client, session *downstream.Session) crossing {
	switch modern := client.Profile().Modern(); {
	case modern == session.Modern():
		return sameEra
	case modern:
		return toLegacy
	default:
		return toModern
	}
}

// unknownState is the response to a modern client that sends a requestState for a legacy server, which has none.
// A requestState of the workbench itself never gets here.
var unknownState = Outcome{Error: wire.Raw([]byte(`{"code":-32602,"message":"Invalid params: the requestState is unknown: ` +
	`no answer of this server had one. Send the request again without it"}`))}

// translateCall translates a call for a server of the other era.
func (r *run) translateCall(call *downstream.ToolCall) {
	if r.crossing == toLegacy {
		r.logs = max(r.logs, rankOf(call.Meta)) // a request that is sent again does not have it any more
		call.Meta, call.Extra = era.LowerMeta(call.Meta), era.LowerMembers(call.Extra)
		return
	}
	call.Requester.LogLevel = r.call.Client.Profile().LogLevel()
	r.keepCall(call)
}

// keepCall keeps a call, which may have to be sent again: sending overwrites the buffer.
func (r *run) keepCall(call *downstream.ToolCall) {
	kept := *call
	if r.crossing == sameEra { // answers to an earlier question, which a new one takes the place of
		kept.Extra = era.LowerMembers(call.Extra)
	}
	kept.Arguments, kept.Meta = clone(call.Arguments), clone(call.Meta)
	r.again = func(members []byte) error {
		next := kept
		next.Arguments, next.Extra = clone(kept.Arguments), joined(kept.Extra, members)
		return r.sendCall(next)
	}
}

// translateForward translates any other request for a server of the other era.
func (r *run) translateForward(forward *downstream.Forward) {
	if r.crossing == toLegacy {
		r.logs = rankOf(forward.Params.Member("_meta"))
		if len(forward.Edits) > 0 { // they refer to parts of the original
			forward.Params = wire.Raw(wire.AppendEdited(nil, forward.Params, forward.Edits...))
			forward.Edits = nil
		}
		forward.Params = era.LowerParams(forward.Params)
		return
	}
	forward.Requester.LogLevel = r.call.Client.Profile().LogLevel()
	r.keepForward(forward)
}

// keepForward is keepCall for any other request.
func (r *run) keepForward(forward *downstream.Forward) {
	kept := *forward
	if r.crossing == sameEra {
		if len(kept.Edits) > 0 { // they refer to parts of the original
			kept.Params, kept.Edits = wire.Raw(wire.AppendEdited(nil, kept.Params, kept.Edits...)), nil
		}
		kept.Params = era.WithoutAnswers(kept.Params)
	}
	r.again = func(members []byte) error {
		next := kept
		next.Extra = members
		return r.sendForward(next)
	}
}

func clone(payload wire.Payload) wire.Payload {
	if payload.IsAbsent() {
		return payload
	}
	return wire.Raw(bytes.Clone(payload.Bytes()))
}

// joined concatenates raw members of an object.
func joined(a, b []byte) []byte {
	if len(a) == 0 || len(b) == 0 {
		return append(a[:len(a):len(a)], b...)
	}
	return append(append(a[:len(a):len(a)], ','), b...)
}

// rankOf returns the rank of the log level that a request asks for, from 1; 0 if it asks for no log messages.
func rankOf(meta wire.Payload) int {
	level, _ := meta.Member(protocol.MetaLogLevel).Text()
	return protocol.Severity(level) + 1
}

// logLevelToRequest returns the log level to request from a legacy server before it gets a modern
// client's request; "" if none is needed.
func logLevelToRequest(client Client, session *downstream.Session, meta wire.Payload) (level string) {
	if crossingOf(client, session) != toLegacy {
		return ""
	}
	level, _ = meta.Member(protocol.MetaLogLevel).Text()
	if level == "" || session.SendsLogs(level) {
		return ""
	}
	return level
}

// wantsNotice reports whether a modern client gets a notification of a legacy server: log messages only if its
// request asked for their level.
func (r *run) wantsNotice(message wire.Message) bool {
	if string(message.Method) != protocol.NotifyMessage {
		return true
	}
	level, _ := message.Params.Member("level").Text()
	return r.logs > 0 && protocol.Severity(level)+1 >= r.logs
}

// translated returns an error in the form of the client's era.
func (r *run) translated(rpcError wire.Payload) wire.Payload {
	switch r.crossing {
	case toLegacy:
		return era.RaiseError(rpcError)
	case toModern:
		return era.LowerError(r.call.Method, rpcError)
	}
	return rpcError
}

// answerHere answers requests that the server's era does not have, in place of the server.
func (request *Forwarding) answerHere(session *downstream.Session) (outcome Outcome, ok bool) {
	if !session.Modern() {
		topic, _, ok := downstream.TopicOf(request.Method, request.Params)
		return Outcome{Error: wire.Raw([]byte(`{"code":-32602,"message":"The server does not tell updates of tasks"}`))}, ok && topic.IsTask
	}
	switch request.Method {
	case protocol.MethodPing:
	case protocol.MethodSetLevel: // the level goes with later requests
		if level, _ := request.Params.Member("level").Text(); protocol.Severity(level) < 0 {
			return Outcome{Error: wire.Raw([]byte(`{"code":-32602,"message":"Invalid params: 'level' is not a level of log messages"}`))}, true
		}
	default:
		return Outcome{}, false
	}
	return Outcome{Result: wire.Raw([]byte("{}"))}, true
}
