package downstream

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

const ours = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"mcp-workbench","version":"7"},` +
	`"io.modelcontextprotocol/clientCapabilities":{}`

func TestModernRequestsSayWhatTheyNeed(t *testing.T) {
	session, log := connect(t, `{"era":"modern","pages":[[{"name":"a"}],[{"name":"b"}]]}`, Options{Modern: true, Version: "7", ToolsChanged: func() {}})
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

func TestModernMetaOfAModernClientStays(t *testing.T) {
	const theirs = `"io.modelcontextprotocol/protocolVersion":"2026-07-28" , "io.modelcontextprotocol/clientCapabilities":{"roots":{}}`
	for _, test := range []struct {
		name, meta, want string
		untracked        bool
	}{
		{"as it is", `{` + theirs + `}`, `{` + theirs + `}`, true},
		{"but for the token", `{"progressToken":"t",` + theirs + `}`, `{"progressToken":1,` + theirs + `}`, false},
		{"unless there is none", ``, `{` + ours + `}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			session, log := connect(t, `{"era":"modern"}`, Options{Modern: true, Version: "7"})
			mustCall(t, session, ToolCall{Name: "a", Meta: wire.Raw([]byte(test.meta)), Untracked: test.untracked, Requester: Requester{Modern: true}})
			lines := log.received()
			want := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":` + test.want + `,"arguments":{}}}`
			if got := lines[len(lines)-1]; got != want {
				t.Errorf("sent\n%s\nwant\n%s", got, want)
			}
		})
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
			session, log := connect(t, `{"era":"modern"}`, Options{Modern: true, Version: "7"})
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
	session, log := connect(t, `{"era":"modern","calls":{"slow":[{"progress":{"progress":1}},{"wait":"cancelled"},{"answered":true}]}}`, Options{Modern: true})
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
	session, _ := connect(t, `{"era":"modern","calls":{"a":[{"change":[{"name":"b"}]}]}}`, Options{Modern: true, ToolsChanged: func() { changed <- struct{}{} }})
	mustCall(t, session, ToolCall{Name: "a"})
	<-changed
}

func TestModernServerWithoutSubscriptions(t *testing.T) {
	for _, spec := range []string{
		`{"era":"modern","capabilities":{"tools":{}}}`,
		`{"era":"modern","on":{"subscriptions/listen":[{"error":{"code":-32601,"message":"no"}}]}}`,
	} {
		session, _ := connect(t, spec, Options{Modern: true, ToolsChanged: func() {}})
		mustCall(t, session, ToolCall{Name: "a"})
	}
}

const discoveredTelling = `{"jsonrpc":"2.0","id":"discover","result":{"resultType":"complete","supportedVersions":["2026-07-28"],` +
	`"capabilities":{"tools":{"listChanged":true}}}}`

// listener is a modern server whose subscriptions last for a while.
type listener struct {
	began   time.Time
	answer  string                    // to each subscription: a result or an error
	lasting func(n int) time.Duration // how long the nth subscription lasts
	asked   []time.Duration           // when it was subscribed to
}

func (l *listener) receive(line string) string {
	if strings.Contains(line, `"server/discover"`) {
		return discoveredTelling
	}
	l.asked = append(l.asked, time.Since(l.began))
	n := len(l.asked)
	<-time.After(l.lasting(n))
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s}`, n, l.answer)
}

func TestModernSubscriptionIsMadeAgain(t *testing.T) {
	const ended, second = `"result":{"resultType":"complete"}`, time.Second
	atOnce := func(int) time.Duration { return 0 }
	for _, test := range []struct {
		name    string
		answer  string
		lasting func(n int) time.Duration
		want    []time.Duration
	}{
		{"after pauses", ended, atOnce, []time.Duration{0, 1 * second, 3 * second, 7 * second, 15 * second, 25 * second, 35 * second}},
		{"unusable answers", `"result":1,"error":2`, atOnce, []time.Duration{0, 1 * second, 3 * second, 7 * second, 15 * second, 25 * second, 35 * second}},
		{"not if it is refused", `"error":{"code":-32601,"message":"no"}`, atOnce, []time.Duration{0}},
		{"soon if it lasted", ended, func(n int) time.Duration {
			if n == 3 {
				return lastPause
			}
			return 0
		}, []time.Duration{0, 1 * second, 3 * second, 14 * second, 16 * second, 20 * second, 28 * second, 38 * second}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &listener{began: time.Now(), answer: test.answer, lasting: test.lasting}
				var changes atomic.Int32
				session, err := converse(t, Options{Modern: true, ToolsChanged: func() { changes.Add(1) }}, server.receive)
				if err != nil {
					t.Fatal(err)
				}
				<-time.After(40 * time.Second)
				synctest.Wait()
				if !slices.Equal(server.asked, test.want) {
					t.Errorf("it was subscribed to after %v, want %v", server.asked, test.want)
				}
				if got := int(changes.Load()); got != len(test.want)-1 {
					t.Errorf("changes may have been missed %d times, and %d were reported", len(test.want)-1, got)
				}
				session.Close() // also in the middle of a pause
			})
		})
	}
}

// The revision has no requests of servers, and clients must not send responses.
func TestModernServerGetsNoResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		session, err := converse(t, Options{Modern: true}, func(line string) string {
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
