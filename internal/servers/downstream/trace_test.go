package downstream

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// A request that is traced says so in the headers, too; others do not.
func TestTraceIsInTheHeaders(t *testing.T) {
	for name, options := range map[string]Options{
		"streamable HTTP": {}, "SSE": {Remote: &Remote{URL: "http://127.0.0.1/sse", SSE: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newWeb(t)
				if options.Remote != nil {
					defer close(sseServer(f, "/messages?sessionId=1"))
				}
				session := f.mustConnect(options)
				if host := session.Peer().Host; host != "127.0.0.1" || session.Peer().Port != 80 {
					t.Errorf("the server is %+v", session.Peer())
				}
				carrier := &tracecontext.Carrier{Parent: "p", State: "s", Baggage: "b"}
				mustCall(t, session, ToolCall{Name: "a"})
				mustCall(t, session, ToolCall{Name: "a", Trace: carrier})
				in := newInbox()
				if _, err := session.Forward(Forward{Method: "tools/list", Params: wire.Raw([]byte("{}")), Trace: carrier}, in); err != nil {
					t.Fatal(err)
				}
				in.outcome()
				calls, lists := f.seen("POST tools/call"), f.seen("POST tools/list")
				const want = " Traceparent=p Tracestate=s Baggage=b"
				if len(calls) != 2 || strings.Contains(calls[0], "race") || !strings.HasSuffix(calls[1], want) || len(lists) != 1 || !strings.HasSuffix(lists[0], want) {
					t.Errorf("the server got %q and %q", calls, lists)
				}
			})
		})
	}
}
