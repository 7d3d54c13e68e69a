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

// fixedTTL is how long what only depends on the configuration may be kept, in milliseconds.
const fixedTTL = 60_000

// encode wraps an answer into a message for the modern era. What servers answered is of that
// era by now; what is our own is not.
func (w *work) encode(id []byte, answer metatool.Answer) []byte {
	switch {
	case answer.Text != nil:
		result := wire.Raw(answer.Text)
		if w.method == protocol.MethodToolsList {
			result = wire.Raw(wire.AppendWithMembers(nil, result, nil, w.statelessClient.hints()))
		}
		answer.Text = era.RaiseResult(w.method, result, wire.Raw(w.statelessClient.server.info())).Bytes()
	case !answer.Outcome.Error.IsAbsent():
		answer.Outcome = w.raiseError(answer.Outcome.Error)
	case answer.Outcome.Result.Member(protocol.ResultType).IsAbsent(): // made of several servers' by the passage
		answer.Outcome.Result = era.RaiseResult(w.method, answer.Outcome.Result, wire.Payload{})
	}
	return encode(id, answer)
}

// raiseError returns what becomes of an error. One that asks the client to open pages is a
// question in this era, if the client can be asked.
func (w *work) raiseError(rpcError wire.Payload) call.Outcome {
	pages := era.RaisePages(rpcError)
	switch {
	case pages.IsAbsent():
		return call.Outcome{Error: era.RaiseError(rpcError)}
	case protocol.FindMethod(w.method).MayAsk && w.statelessClient.capabilities.Member("elicitation").Member("url").Kind() == "object":
		return call.Outcome{Result: pages}
	}
	missing := &refusal{
		code: protocol.CodeMissingCapability, message: "The server needs a client that can open pages",
		data: []byte(`{"requiredCapabilities":{"elicitation":{"url":{}}}}`),
	}
	return call.Outcome{Error: wire.Raw(missing.object())}
}

// hints are members that say how long what a client sees first may be kept. It is private:
// what another one sees may be less.
func (s *session) hints() []byte {
	ttl := 0
	if s.surface.Load().IsFixed() {
		ttl = fixedTTL
	}
	hints := strconv.AppendInt([]byte(`"`+protocol.TTL+`":`), int64(ttl), 10)
	return wire.AppendMember(hints, protocol.CacheScope, "private")
}

// info is what we say of ourselves.
func (s *Server) info() []byte {
	info := wire.AppendMember([]byte("{"), "name", protocol.OwnName)
	info = wire.AppendMember(info, "title", "MCP Workbench")
	info = wire.AppendMember(info, "version", s.options.Version)
	return append(info, '}')
}

// discover answers what we are and what we can do, which may have to be found out first.
func (r *statelessRequest) discover() {
	client := r.statelessClient
	if client.unmarked {
		r.finish(wire.Result(r.id, client.discovery(client.passage.Load().KnownCapabilities(client))))
		return
	}
	ctx, cancel := context.WithTimeout(client.life, capabilitiesTime)
	r.await(stopping(cancel))
	client.passage.Load().Capabilities(ctx, client, func(ours []byte) {
		cancel()
		r.finish(wire.Result(r.id, client.discovery(ours)))
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
	// Tasks are an extension in this era, and none that we can make of those before.
	result = wire.AppendWithMembers(result, wire.Raw(capabilities), func(key string) bool { return key == "tasks" }, nil)
	result = wire.AppendMember(result, "instructions", c.surface.Load().Instructions())
	result = append(append(result, ','), c.hints()...)
	result = append(append(result, `,"_meta":{"`+protocol.MetaServerInfo+`":`...), c.server.info()...)
	return append(result, "}}"...)
}
