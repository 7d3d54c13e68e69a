package passthrough

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func TestTasksOfTheModernEra(t *testing.T) {
	const extension = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	b := newBench(t, "",
		&fake{name: "t/a", capabilities: extension, answers: map[string]string{}},
		&fake{name: "t/b", capabilities: extension, answers: map[string]string{protocol.MethodTasksUpdate: `{"b":1}`}},
		&fake{name: "t/c", capabilities: `{"tools":{}}`, answers: map[string]string{}})
	b.LearnTask(b.client, toolbox.Ref{Toolbox: "t", Server: "b"}, wire.Raw([]byte(`{"resultType":"task","taskId":"7"}`)))
	b.want(t, protocol.MethodTasksUpdate, `{"taskId":"7"}`, `{"b":1}`, `b tasks/update {"taskId":"7"}`)
	b.LearnTask(b.client, toolbox.Ref{Toolbox: "t", Server: "c"}, wire.Raw([]byte(`{"resultType":"complete","taskId":"7"}`)))
	b.want(t, protocol.MethodTasksUpdate, `{"taskId":"7"}`, `{"b":1}`, `b tasks/update {"taskId":"7"}`)
}

func TestUpdatesOfTasks(t *testing.T) {
	const spec = `{"era":"modern","capabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	refusing := strings.TrimSuffix(spec, "}") + `,"on":{"subscriptions/listen":[{"error":{"code":-32602,"message":"unknown task"}}]}}`
	fakes := []*fake{{name: "t/a", capabilities: hasTasks, spec: refusing}, {name: "t/b", capabilities: hasTasks, spec: spec}}
	b := newBench(t, "", fakes...)
	// Nobody knows whose it is until one agrees.
	b.want(t, protocol.MethodWatchTask, `{"taskId":"7"}`, `{}`, `a updates of tasks ["7"]`, `b updates of tasks ["7"]`)
	if _, _, ok := b.client.memory.findSubscription("7"); ok {
		t.Error("a task counts as a resource")
	}
	if task, ok := b.client.memory.taskOwner("7"); !ok || task != (taskRef{origin{"t", "b"}, "7"}) {
		t.Errorf("the task is %v", task)
	}
	b.start(t, fakes[1])
	b.wantSent(t, `b end of updates of tasks ["7"]`)
	server := b.server("t/b")
	b.SessionBegan(b.client, server, liveSession(server, b.client))
	b.wantSent(t, `b updates of tasks ["7"]`)
	b.want(t, protocol.MethodWatchTask, `{"taskId":"8"}`, `{}`, `a updates of tasks ["8"]`, `b updates of tasks ["8"]`) // after 7 was acknowledged
	for _, id := range []string{"7", "8"} {
		b.want(t, protocol.MethodUnwatchTask, `{"taskId":"`+id+`"}`, `{}`)
		b.wantSent(t, `b end of updates of tasks ["`+id+`"]`)
	}
	b.SessionBegan(b.client, server, liveSession(server, b.client))

	// The id that the client knows is another than the server's.
	b.LearnTask(b.client, toolbox.Ref{Toolbox: "t", Server: "a"}, wire.Raw([]byte(`{"task":{"taskId":"1"}}`)))
	b.want(t, protocol.MethodWatchTask, `{"taskId":"workbench://t/b/1"}`, `{}`, `b updates of tasks ["1"]`)
	if keys := b.client.memory.subscribed; len(keys) != 1 {
		t.Errorf("the client has the subscriptions %v", keys)
	}
	b.ClientLeft(b.client)
	b.wantSent(t, `b end of updates of tasks ["1"]`)
	if keys := b.client.memory.subscribed; len(keys) != 0 {
		t.Errorf("left over: %v", keys)
	}
}

func TestMethodThatAServerRefusesBelowTheProtocol(t *testing.T) {
	for _, test := range []struct{ name, method, answer, code string }{
		{"unknown to all", "no/such", "status 400", `"code":-32601,`},
		{"known to us", protocol.MethodResourcesRead, "status 400", `"code":-32603,`},
		{"another status", "no/such", "status 500", `"code":-32603,`},
	} {
		b := newBench(t, "", &fake{name: "t/a", capabilities: hasResources, answers: map[string]string{test.method: test.answer}})
		if got := b.ask(t, test.method, `{"uri":"x:1"}`); !strings.Contains(got, test.code) {
			t.Errorf("%s: the answer is %s, want %s", test.name, got, test.code)
		}
	}
	b := newBench(t, "", &fake{name: "t/a", capabilities: hasResources})
	b.refuseWith(&call.Failure{Message: "m"})
	if got := b.ask(t, "no/such", `{}`); !strings.Contains(got, `"code":-32603,`) {
		t.Errorf("no status: the answer is %s", got)
	}
}

// What the workbench asks itself for is nothing that a client can ask for, whatever servers there are.
func TestOwnMethodsAreUnknownToClients(t *testing.T) {
	for _, fakes := range [][]*fake{nil, twins()[:1], twins()} {
		b := newBench(t, "", fakes...)
		requests := b.refuseWith(nil)
		for _, method := range []string{protocol.MethodWatchTask, protocol.MethodUnwatchTask} {
			reply := make(waiter, 1)
			b.Handle(Request{Method: method, Params: wire.Raw([]byte(`{"taskId":"1"}`)), Session: b.client, Canceller: &call.Canceller{}, Replier: reply})
			a := <-reply
			if got := string(a.outcome.Error.Bytes()); got != `{"code":-32601,"message":"Method not found: '`+method+`'"}` {
				t.Errorf("got %s", got)
			}
			if requests.count > 0 {
				t.Errorf("%s was sent to a server", method)
			}
		}
	}
}
