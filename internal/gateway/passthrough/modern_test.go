package passthrough

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

func TestTasksOfTheModernEra(t *testing.T) {
	const extension = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	b := newBench(t, "",
		&fake{name: "t/a", capabilities: extension, answers: map[string]string{}},
		&fake{name: "t/b", capabilities: extension, answers: map[string]string{protocol.MethodTasksUpdate: `{"b":1}`}},
		&fake{name: "t/c", capabilities: `{"tools":{}}`, answers: map[string]string{}})
	b.Learn(b.client, toolbox.Ref{Toolbox: "t", Server: "b"}, wire.Raw([]byte(`{"resultType":"task","taskId":"7"}`)))
	b.want(t, protocol.MethodTasksUpdate, `{"taskId":"7"}`, `{"b":1}`, `b tasks/update {"taskId":"7"}`)
	b.Learn(b.client, toolbox.Ref{Toolbox: "t", Server: "c"}, wire.Raw([]byte(`{"resultType":"complete","taskId":"7"}`)))
	b.want(t, protocol.MethodTasksUpdate, `{"taskId":"7"}`, `{"b":1}`, `b tasks/update {"taskId":"7"}`)
}

func TestUpdatesOfTasks(t *testing.T) {
	const extension = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	b := newBench(t, "",
		&fake{name: "t/a", capabilities: extension, answers: map[string]string{protocol.MethodWatchTask: `{"code":-32602,"message":"unknown task"}`}},
		&fake{name: "t/b", capabilities: extension, answers: map[string]string{protocol.MethodWatchTask: `{}`, protocol.MethodUnwatchTask: `{}`}})
	// Nobody knows whose it is until one agrees.
	b.want(t, protocol.MethodWatchTask, `{"taskId":"7"}`, `{}`, `a workbench/tasks/watch {"taskId":"7"}`, `b workbench/tasks/watch {"taskId":"7"}`)
	if _, _, ok := b.client.memory.subscription("7"); ok {
		t.Error("a task counts as a resource")
	}
	next := &sessionOf{}
	b.Began(b.client, b.server("t/b"), next)
	if want := `workbench/tasks/watch {"taskId":"7"}`; len(next.sent) != 1 || next.sent[0] != want {
		t.Errorf("the next session was sent %q, want %s", next.sent, want)
	}
	b.session[b.server("t/b")] = next
	b.want(t, protocol.MethodUnwatchTask, `{"taskId":"7"}`, `{}`, `b workbench/tasks/unwatch {"taskId":"7"}`)
	b.want(t, protocol.MethodWatchTask, `{"taskId":"8"}`, `{}`)
	b.sent = nil
	b.Leave(b.client)
	if want := `b workbench/tasks/unwatch {"taskId":"8"}`; len(b.sent) != 1 || b.sent[0] != want {
		t.Errorf("sent %q, want %s", b.sent, want)
	}
}

func TestMethodThatAServerRefusesBelowTheProtocol(t *testing.T) {
	for _, test := range []struct {
		name, method string
		cause        error
		code         string
	}{
		{"unknown to all", "no/such", &downstream.StatusError{Code: 400}, `"code":-32601,`},
		{"known to us", protocol.MethodResourcesRead, &downstream.StatusError{Code: 400}, `"code":-32603,`},
		{"another status", "no/such", &downstream.StatusError{Code: 500}, `"code":-32603,`},
		{"no status", "no/such", nil, `"code":-32603,`},
	} {
		reply := make(waiter, 1)
		b := newBench(t, "", &fake{name: "t/a"})
		a := &attempt{
			errand: &errand{passage: b.Passage, memory: b.client.memory, request: Request{Method: test.method, Session: b.client, Replier: reply}},
			place:  place{server: b.server("t/a")},
		}
		a.Reply(call.Outcome{}, &call.Failure{Message: "m", Cause: test.cause})
		if got := string((<-reply).outcome.Error.Bytes()); !strings.Contains(got, test.code) {
			t.Errorf("%s: the answer is %s, want %s", test.name, got, test.code)
		}
	}
}

// What the workbench asks itself for is nothing that a client can ask for, whatever servers there are.
func TestOwnMethodsAreUnknownToClients(t *testing.T) {
	for _, fakes := range [][]*fake{nil, twins()[:1], twins()} {
		b := newBench(t, "", fakes...)
		for _, method := range []string{protocol.MethodWatchTask, protocol.MethodUnwatchTask} {
			reply := make(waiter, 1)
			b.Handle(Request{Method: method, Params: wire.Raw([]byte(`{"taskId":"1"}`)), Session: b.client, Canceller: &call.Canceller{}, Replier: reply})
			a := <-reply
			if got := string(a.outcome.Error.Bytes()); got != `{"code":-32601,"message":"Method not found: '`+method+`'"}` || len(b.sent) > 0 {
				t.Errorf("got %s, sent %q", got, b.sent)
			}
		}
	}
}
