package front

import (
	"context"
	"strconv"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/era"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// fixedTTL is how long a client may cache what only depends on the configuration, in milliseconds.
const fixedTTL = 60_000

// raise returns the answer to a method as the modern era has it. Answers of servers have been
// converted before; those of the workbench have not.
func (c *statelessClient) raise(method string, answer metatool.Answer) metatool.Answer {
	switch {
	case answer.Text != nil:
		result := wire.Raw(answer.Text)
		if method == protocol.MethodToolsList {
			result = wire.Raw(wire.AppendWithMembers(nil, result, nil, c.hints()))
		}
		answer.Text = era.RaiseResult(method, result, wire.Raw(c.server.info())).Bytes()
	case !answer.Outcome.Error.IsAbsent():
		answer.Outcome = c.raiseError(method, answer.Outcome.Error)
	case answer.Outcome.Result.Member(protocol.ResultType).IsAbsent(): // made of several servers' by the forwarder
		answer.Outcome.Result = era.RaiseResult(method, answer.Outcome.Result, wire.Payload{})
	}
	return answer
}

// raiseError converts an error. One that asks the client to open pages becomes a question, if the
// client can be asked.
func (c *statelessClient) raiseError(method string, rpcError wire.Payload) call.Outcome {
	pages := era.RaisePages(rpcError)
	switch {
	case pages.IsAbsent():
		return call.Outcome{Error: era.RaiseError(rpcError)}
	case protocol.FindMethod(method).MayAsk && c.capabilities().Member("elicitation").Member("url").Kind() == "object":
		return call.Outcome{Result: pages}
	}
	missing := &metatool.Error{
		Code: protocol.CodeMissingCapability, Message: "The server needs a client that can open pages",
		Data: []byte(`{"requiredCapabilities":{"elicitation":{"url":{}}}}`),
	}
	return call.Outcome{Error: wire.Raw(appendError(nil, missing))}
}

// hints are the members that say how long the client may cache instructions and tools. They are
// private: another client may see less.
func (s *session) hints() []byte {
	ttl := 0
	if s.surface.Load().IsFixed() {
		ttl = fixedTTL
	}
	hints := strconv.AppendInt([]byte(`"`+protocol.TTL+`":`), int64(ttl), 10)
	return wire.AppendMember(hints, protocol.CacheScope, "private")
}

// discover answers server/discover. The capabilities of servers may have to be found out first.
func (c *statelessClient) discover(r *request) {
	if c.unmarked {
		r.respond(metatool.Answer{Text: c.discovery(c.forwarder.Load().KnownCapabilities(c))})
		return
	}
	cancelled, stop := r.canceller.Context()
	ctx, cancel := context.WithTimeout(cancelled, capabilitiesTime)
	c.forwarder.Load().Capabilities(ctx, c, func(ours []byte) {
		cancel()
		stop()
		r.respond(metatool.Answer{Text: c.discovery(ours)})
	})
}

// discovery is the result of server/discover.
func (c *statelessClient) discovery(capabilities []byte) []byte {
	result := wire.AppendMember([]byte("{"), protocol.ResultType, protocol.ResultComplete)
	result = append(result, `,"supportedVersions":[`...)
	for i, revision := range protocol.Supported() {
		if i > 0 {
			result = append(result, ',')
		}
		result = wire.AppendString(result, string(revision))
	}
	result = append(result, `],"capabilities":`...)
	// Tasks are an extension in this era, which cannot be made of those of the legacy era.
	result = wire.AppendWithMembers(result, wire.Raw(capabilities), func(key string) bool { return key == "tasks" }, nil)
	result = wire.AppendMember(result, "instructions", c.surface.Load().Instructions())
	result = append(append(result, ','), c.hints()...)
	result = append(append(result, `,"_meta":{"`+protocol.MetaServerInfo+`":`...), c.server.info()...)
	return append(result, "}}"...)
}
