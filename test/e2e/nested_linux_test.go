package e2e

import (
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// This file is about workbenches in front of workbenches, and servers behind them that ask.

// A question reaches the client, and its answer the server, however many workbenches are
// between them.
func TestClientIsAskedThroughWorkbenches(t *testing.T) {
	asks := func(t *testing.T) *bench {
		return newBench(t, "", box{"tools", "Asks", []server{asker(t, newest, false)}})
	}
	before := func(t *testing.T, inner *bench, overHTTP bool) *bench {
		b := newBench(t, "", box{"tools", "A workbench", []server{{name: "next", url: inner.serve()}}})
		b.overHTTP = overHTTP
		return b
	}
	for _, revision := range []string{newest, modernRevision} {
		ways := map[string]func(t *testing.T, options *mcp.ClientOptions) (session *mcp.ClientSession, hops int){
			"bridge": func(t *testing.T, options *mcp.ClientOptions) (*mcp.ClientSession, int) {
				b := asks(t)
				return b.connectBy(b.bridgeTo(b.serve()), revision, options), 0
			},
			"two, stdio": func(t *testing.T, options *mcp.ClientOptions) (*mcp.ClientSession, int) {
				return before(t, asks(t), false).connect(revision, options), 1
			},
			"two, HTTP": func(t *testing.T, options *mcp.ClientOptions) (*mcp.ClientSession, int) {
				return before(t, asks(t), true).connect(revision, options), 1
			},
			"three": func(t *testing.T, options *mcp.ClientOptions) (*mcp.ClientSession, int) {
				return before(t, before(t, asks(t), true), true).connect(revision, options), 2
			},
			"three and a bridge": func(t *testing.T, options *mcp.ClientOptions) (*mcp.ClientSession, int) {
				b := before(t, before(t, asks(t), true), true)
				return b.connectBy(b.bridgeTo(b.serve()), revision, options), 2
			},
		}
		for _, name := range slices.Sorted(maps.Keys(ways)) {
			t.Run(name+", client "+revision, func(t *testing.T) {
				var asked atomic.Int32
				session, hops := ways[name](t, askable(&asked))
				for hop := range hops + 1 {
					sdkCall(t, session, through(hop, &mcp.CallToolParams{Name: "open_toolbox", Arguments: map[string]any{"toolbox": "tools"}}))
				}
				got := sdkText(t, sdkCall(t, session, through(hops, useParams("tools", "asker", "ask", struct{}{}))))
				if got != "accept Ada: said" || asked.Load() != 2 {
					t.Errorf("got %q after %d questions", got, asked.Load())
				}
			})
		}
	}
}

// through is a call by use_tool of so many workbenches.
func through(hops int, call *mcp.CallToolParams) *mcp.CallToolParams {
	for range hops {
		call = useParams("tools", "next", call.Name, call.Arguments)
	}
	return call
}
