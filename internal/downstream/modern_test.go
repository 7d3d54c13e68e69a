package downstream

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

const ours = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"mcp-workbench","version":"7"},` +
	`"io.modelcontextprotocol/clientCapabilities":{}`

func TestModernRequestsSayWhatTheyNeed(t *testing.T) {
	session, log := connect(t, `{"era":"modern","pages":[[{"name":"a"}],[{"name":"b"}]]}`, Options{Version: "7", ToolsChanged: func() {}})
	tools, _, err := session.ListTools(t.Context())
	if err != nil || len(tools) != 2 {
		t.Fatalf("%d tools, %v", len(tools), err)
	}
	mustCall(t, session, ToolCall{Name: "a"})
	want := []string{
		`{"jsonrpc":"2.0","id":"discover","method":"server/discover","params":{"_meta":{` + ours + `}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{` + ours + `}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{` + ours + `}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"page-1","_meta":{` + ours + `}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"a","_meta":{` + ours + `},"arguments":{}}}`,
	}
	if got := log.received(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestModernMetaIsMerged(t *testing.T) {
	for _, test := range []struct{ name, meta, want string }{
		{"empty", `{}`, `{` + ours + `}`},
		{"the client's own stays as it is", `{"z":{"b":1.0, "a":[ ]} , "u":"\u00e9"}`, `{"z":{"b":1.0, "a":[ ]} , "u":"\u00e9",` + ours + `}`},
		{"the token is ours", `{"a":1,"progressToken" : "theirs","z":2}`, `{"a":1,"z":2,` + ours + `,"progressToken":1}`},
		{
			"what belongs to the client's hop is replaced",
			`{"io.modelcontextprotocol/protocolVersion":"1","io.modelcontextprotocol\/clientInfo":{},"io.modelcontextprotocol/clientCapabilities":{"roots":{}},` +
				`"io.modelcontextprotocol/logLevel":"debug","io.modelcontextprotocol/other":1}`,
			`{"io.modelcontextprotocol/other":1,` + ours + `}`,
		},
		{"no object", `7`, `{` + ours + `}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			session, log := connect(t, `{"era":"modern"}`, Options{Version: "7"})
			mustCall(t, session, ToolCall{Name: "a", Arguments: wire.Raw([]byte(`{"n": 1.0}`)), Meta: wire.Raw([]byte(test.meta))})
			lines := log.received()
			want := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":` + test.want + `,"arguments":{"n": 1.0}}}`
			if got := lines[len(lines)-1]; got != want {
				t.Errorf("sent\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestModernProgressAndCancellation(t *testing.T) {
	session, log := connect(t, `{"era":"modern","calls":{"slow":[{"progress":{"progress":1}},{"wait":"cancelled"},{"answered":true}]}}`, Options{})
	in := newInbox()
	id, err := session.CallTool(ToolCall{Name: "slow", Meta: wire.Raw([]byte(`{"progressToken":"x"}`))}, in)
	if err != nil {
		t.Fatal(err)
	}
	if got := <-in.messages; string(got.response.Params.Member("progress").Bytes()) != "1" {
		t.Errorf("got %+v, want progress", got)
	}
	if !session.Cancel(id, nil) {
		t.Error("the call could not be cancelled")
	}
	mustCall(t, session, ToolCall{Name: "echo"})
	want := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	if lines := log.received(); lines[len(lines)-2] != want {
		t.Errorf("the server was told %s, want %s", lines[len(lines)-2], want)
	}
}

func TestModernToolsChanged(t *testing.T) {
	changed := make(chan struct{}, 1)
	session, _ := connect(t, `{"era":"modern","calls":{"a":[{"change":[{"name":"b"}]}]}}`, Options{ToolsChanged: func() { changed <- struct{}{} }})
	mustCall(t, session, ToolCall{Name: "a"})
	<-changed
}

func TestModernServerWithoutSubscriptions(t *testing.T) {
	for _, spec := range []string{
		`{"era":"modern","capabilities":{"tools":{}}}`,
		`{"era":"modern","on":{"subscriptions/listen":[{"error":{"code":-32601,"message":"no"}}]}}`,
	} {
		session, _ := connect(t, spec, Options{ToolsChanged: func() {}})
		mustCall(t, session, ToolCall{Name: "a"})
	}
}

// The revision has no requests of servers, and clients must not send responses.
func TestModernServerGetsNoResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		session, err := converse(t, Options{}, func(line string) string {
			lines = append(lines, line)
			if len(lines) == 1 {
				return discovered
			}
			return `{"jsonrpc":"2.0","id":"p","method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":1,"result":{}}`
		})
		if err != nil {
			t.Fatal(err)
		}
		mustCall(t, session, ToolCall{Name: "a"})
		synctest.Wait()
		if len(lines) != 2 {
			t.Errorf("the server got %q", lines)
		}
	})
}
