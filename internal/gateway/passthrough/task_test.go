package passthrough

import (
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// twins are servers that give their tasks the same ids.
func twins() []*fake {
	answers := func(name string) map[string]string {
		return map[string]string{
			protocol.MethodTasksList:   `{"tasks":[{"taskId":"1","of":"` + name + `"}]}`,
			protocol.MethodTasksGet:    `{"of":"` + name + `","taskId":"1"}`,
			protocol.MethodTasksCancel: `{"taskId":"1"}`,
			protocol.MethodTasksResult: `{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"},"ui":{"resourceUri":"ui://x"}}}`,
		}
	}
	return []*fake{
		{name: "t/a", capabilities: `{"tasks":{}}`, answers: answers("a")},
		{name: "t/b", capabilities: `{"tasks":{}}`, answers: answers("b")},
	}
}

// made returns what the client gets of a call that became a task.
func (b *bench) made(server, result string) string {
	ref := toolbox.Ref{Toolbox: "t", Server: server}
	payload := wire.Raw([]byte(result))
	b.LearnTask(b.client, ref, payload)
	return string(wire.AppendEdited(nil, payload, b.LinkEdits(b.client, ref, payload)...))
}

func TestEqualTaskIDsAreToldApart(t *testing.T) {
	const second = "workbench://t/b/1"
	b := newBench(t, "", twins()...)
	for range 2 { // names stay
		if got := b.made("a", `{"task":{"taskId":"1"}}`); got != `{"task":{"taskId":"1"}}` {
			t.Errorf("the first is %s", got)
		}
		if got := b.made("b", `{"task":{"status":"working","taskId":"1"}}`); got != `{"task":{"status":"working","taskId":"`+second+`"}}` {
			t.Errorf("the second is %s", got)
		}
		if got := b.made("b", `{"resultType":"task","taskId":"1"}`); got != `{"resultType":"task","taskId":"`+second+`"}` {
			t.Errorf("the second of the modern era is %s", got)
		}
	}
	b.want(t, protocol.MethodTasksGet, `{"taskId":"1"}`, `{"of":"a","taskId":"1"}`, `a tasks/get {"taskId":"1"}`)
	b.want(t, protocol.MethodTasksGet, `{"taskId":"`+second+`"}`, `{"of":"b","taskId":"`+second+`"}`, `b tasks/get {"taskId":"1"}`)
	b.want(t, protocol.MethodTasksCancel, `{"taskId":"`+second+`"}`, `{"taskId":"`+second+`"}`, `b tasks/cancel {"taskId":"1"}`)
	b.want(t, protocol.MethodTasksResult, `{"taskId":"`+second+`"}`,
		`{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"`+second+`"},"ui":{"resourceUri":"ui://x"}}}`, `b tasks/result {"taskId":"1"}`)
	b.want(t, protocol.MethodTasksList, `{}`, `{"tasks":[{"taskId":"1","of":"a"},{"taskId":"`+second+`","of":"b"}]}`)

	// One server is left: the ids stay what they were.
	b.stop(b.fakes[origin{"t", "a"}])
	b.want(t, protocol.MethodTasksList, `{}`, `{"tasks":[{"taskId":"`+second+`","of":"b"}]}`)
}

// The new id says where it leads to a client that has begun anew.
func TestATaskIsFoundByItsNewIDAlone(t *testing.T) {
	b := newBench(t, "", twins()...)
	b.want(t, protocol.MethodTasksGet, `{"taskId":"workbench://t/b/1"}`, `{"of":"b","taskId":"workbench://t/b/1"}`, `b tasks/get {"taskId":"1"}`)
}

// It leads to its server also while only another one runs.
func TestATaskOfAServerThatStopped(t *testing.T) {
	fakes := twins()
	fakes[1].stopped = true
	b := newBench(t, "", fakes...)
	b.want(t, protocol.MethodTasksGet, `{"taskId":"workbench://t/b/1"}`, `{"of":"b","taskId":"workbench://t/b/1"}`, `b tasks/get {"taskId":"1"}`)
	b.want(t, protocol.MethodTasksGet, `{"taskId":"1"}`, `{"of":"a","taskId":"1"}`, `a tasks/get {"taskId":"1"}`)
}

// What the only server listed is known when another one comes.
func TestTasksOfTheOnlyServerAreRemembered(t *testing.T) {
	fakes := twins()
	fakes[1].capabilities = `{}`
	b := newBench(t, "", fakes...)
	b.want(t, protocol.MethodTasksList, `{}`, `{"tasks":[{"taskId":"1","of":"a"}]}`)
	fakes[1].capabilities = `{"tasks":{}}`
	b.start(t, fakes[1])
	if got := b.made("b", `{"task":{"taskId":"1"}}`); got != `{"task":{"taskId":"workbench://t/b/1"}}` {
		t.Errorf("the second is %s", got)
	}
}

func TestNotificationsOfTasksAreToldApart(t *testing.T) {
	b := newBench(t, "", twins()...)
	b.made("a", `{"task":{"taskId":"1"}}`)
	for _, method := range []string{protocol.NotifyTasks, protocol.NotifyTaskStatus} {
		for server, want := range map[string]string{"t/a": "1", "t/b": "workbench://t/b/1"} { // of b, the client knows no task
			got, ok := b.Notification(b.client, b.server(server), notification(t, `{"jsonrpc":"2.0","method":"`+method+`","params":{"taskId":"1","status":"working"}}`))
			if params := `{"taskId":"` + want + `","status":"working"}`; !ok || string(got) != params {
				t.Errorf("%s tells %s", server, got)
			}
		}
	}
	b.made("b", `{"task":{"taskId":"1"}}`)
	if task, ok := b.client.memory.taskOwner("workbench://t/b/1"); !ok || task != (taskRef{origin{"t", "b"}, "1"}) {
		t.Errorf("it is %v", task)
	}
	if n := len(b.client.memory.tasks.tasks); n != 2 {
		t.Errorf("%d tasks are remembered", n)
	}
}

// A server's own id that looks like one of ours is another, too.
func TestTaskIDsOfAWorkbenchBelow(t *testing.T) {
	b := newBench(t, "", twins()...)
	got := b.made("a", `{"task":{"taskId":"workbench://t/b/1"}}`)
	if want := `{"task":{"taskId":"workbench://t/a/workbench%3A%2F%2Ft%2Fb%2F1"}}`; got != want {
		t.Errorf("got %s", got)
	}
}

func TestTasksAreForTheClientsOfOnePerson(t *testing.T) {
	const unknown = `{"code":-32602,"message":"Task not found: '1'. A task is known to the client that made it, as long as its server keeps it"}`
	for name, fakes := range map[string][]*fake{"one server": twins()[:1], "several": twins()} {
		t.Run(name, func(t *testing.T) {
			for _, f := range fakes {
				f.answers["tasks/other"] = `{}`
			}
			b := newBench(t, "", fakes...)
			other := b.shareWithOthers(t)
			b.made("a", `{"task":{"taskId":"1"}}`)
			b.want(t, protocol.MethodTasksGet, `{"taskId":"1"}`, `{"of":"a","taskId":"1"}`, `a tasks/get {"taskId":"1"}`)
			b.want(t, protocol.MethodTasksList, `{}`, `{"tasks":[{"taskId":"1","of":"a"}]}`)

			b.client = other
			b.want(t, protocol.MethodTasksList, `{}`, `{"tasks":[]}`)
			for _, method := range []string{
				protocol.MethodTasksGet, protocol.MethodTasksResult, protocol.MethodTasksUpdate, protocol.MethodTasksCancel, protocol.MethodWatchTask,
			} {
				b.want(t, method, `{"taskId":"1"}`, unknown, []string{}...)
				if sent := b.takeSent(); len(sent) > 0 {
					t.Errorf("%s: sent %q", method, sent)
				}
			}
			if len(fakes) == 1 {
				b.want(t, "tasks/other", `{"taskId":"1"}`, unknown)
			}
			for _, line := range []string{
				`{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"1"}}`,
				`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"1"}}`,
				`{"jsonrpc":"2.0","method":"notifications/message","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}}}}`,
			} {
				if got, ok := b.Notification(b.client, b.server("t/a"), notification(t, line)); ok {
					t.Errorf("another client is told %s", got)
				}
			}
		})
	}
}

// To a client that does not have it, a task of another is like one that is not there, whatever the server's words are.
func TestMissingTasksAreAnsweredAlike(t *testing.T) {
	fakes := twins()[:1]
	fakes[0].answers[protocol.MethodTasksGet] = `{"code":-32602,"message":"Unknown task"}`
	fakes[0].answers[protocol.MethodTasksCancel] = `{"code":-32602,"message":"Cannot cancel 1: it is completed"}`
	b := newBench(t, "", fakes...)
	b.want(t, protocol.MethodTasksGet, `{"taskId":"1"}`, `{"code":-32602,"message":"Unknown task"}`)
	b.shareWithOthers(t)
	b.made("a", `{"task":{"taskId":"1"}}`)
	b.want(t, protocol.MethodTasksGet, `{"taskId":"1"}`, `{"code":-32602,"message":"Task not found: '1'. A task is known to the client that made it, as long as its server keeps it"}`)
	b.want(t, protocol.MethodTasksCancel, `{"taskId":"1"}`, `{"code":-32602,"message":"Cannot cancel 1: it is completed"}`)
}

// What is no tool can become a task as well.
func TestAnyRequestCanBecomeATask(t *testing.T) {
	fakes := twins()[:1]
	fakes[0].capabilities = `{"tasks":{},"prompts":{}}`
	fakes[0].answers[protocol.MethodPromptsGet] = `{"resultType":"task","taskId":"9"}`
	b := newBench(t, "", fakes...)
	other := b.shareWithOthers(t)
	b.want(t, protocol.MethodPromptsGet, `{"name":"p"}`, `{"resultType":"task","taskId":"9"}`)
	if server := b.server("t/a"); server.HidesTask(b.client.profile, "9") || !server.HidesTask(other.profile, "9") {
		t.Error("it is not known whose the task is")
	}
}

func TestUpdatesOfOtherPersonsResources(t *testing.T) {
	fakes := three()
	for _, f := range fakes {
		f.answers[protocol.MethodSubscribe] = `{}`
	}
	b := newBench(t, "", fakes...)
	other := b.shareWithOthers(t)
	b.askAs(t, b.client, protocol.MethodSubscribe, `{"uri":"y:1"}`)
	b.askAs(t, other, protocol.MethodSubscribe, `{"uri":"y:2"}`)
	server := ""
	for name := range map[string]bool{"t/a": true, "t/b": true, "u/c": true} {
		if got := update(t, b, name, "y:1", b.client, other); len(got) == 1 && got[0] == "0 y:1" {
			server = name
		}
	}
	if server == "" {
		t.Fatal("nobody is told of what was subscribed to")
	}
	for uri, want := range map[string]int{"y:1/part": 1, "y:1#part": 1, "y:11": 0, "y:3": 0} {
		if got := update(t, b, server, uri, b.client, other); len(got) != want {
			t.Errorf("of %s are told %q", uri, got)
		}
	}
}
