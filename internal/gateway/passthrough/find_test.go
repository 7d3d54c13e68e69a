package passthrough

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// three are servers that collide in every way. Each reads what it has: its answers name it.
func three() []*fake {
	const all = `{"resources":{"subscribe":true},"prompts":{},"tasks":{},"completions":{}}`
	missing := `{"code":-32002,"message":"Resource not found"}`
	return []*fake{
		{name: "t/a", capabilities: all, answers: map[string]string{
			protocol.MethodResourcesList: `{"resources":[{"uri":"x:1"},{"uri":"n:listed"}]}`,
			protocol.MethodTemplatesList: `{"resourceTemplates":[{"uriTemplate":"note:{id}"}]}`,
			protocol.MethodPromptsList:   `{"prompts":[{"name":"p"}]}`,
			protocol.MethodResourcesRead: missing, protocol.MethodResourcesRead + ` {"uri":"x:1"}`: `{"contents":[{"uri":"x:1","text":"a"}]}`,
			protocol.MethodResourcesRead + ` {"uri":"note:1"}`: `{"contents":[{"uri":"note:1","text":"a"}]}`,
			protocol.MethodPromptsGet:                          `{"code":-32602,"message":"Unknown prompt"}`, protocol.MethodPromptsGet + ` {"name":"p"}`: `{"a":1}`,
			protocol.MethodTasksGet: `{"code":-32602,"message":"Failed to retrieve task: Task not found"}`,
			protocol.MethodComplete: `{"completion":{"values":["a"]}}`,
		}},
		{name: "t/b", capabilities: all, answers: map[string]string{
			protocol.MethodResourcesList: `{"resources":[{"uri":"x:1"},{"uri":"x:2"}]}`,
			protocol.MethodTemplatesList: `{"resourceTemplates":[{"uriTemplate":"note:{id}"},{"uriTemplate":"n:{+all}"}]}`,
			protocol.MethodPromptsList:   `{"prompts":[{"name":"p"},{"name":"q"}]}`,
			protocol.MethodResourcesRead: `{"code":-32602,"message":"there is no x"}`, protocol.MethodResourcesRead + ` {"uri":"x:1"}`: `{"contents":[{"uri":"x:1","text":"b"},{"uri":"x:2"},{"uri":"x:9"}]}`,
			protocol.MethodResourcesRead + ` {"uri":"note:2"}`: `{"contents":[{"uri":"note:2","text":"b"}]}`,
			protocol.MethodResourcesRead + ` {"uri":"n:else"}`: `{"b":"n"}`,
			protocol.MethodPromptsGet:                          `{"b":1}`,
			protocol.MethodTasksGet:                            `{"taskId":"7","b":1}`,
			protocol.MethodComplete:                            `{"completion":{"values":["b"]}}`,
		}},
		{name: "u/c", capabilities: all, answers: map[string]string{
			protocol.MethodTemplatesList: `{"resourceTemplates":[{"uriTemplate":"note:{id}"}]}`,
			protocol.MethodResourcesRead: `{"code":0,"message":"Unknown resource: that"}`, protocol.MethodResourcesRead + ` {"uri":"z:1"}`: `{"contents":[{"uri":"z:1","text":"c"}]}`,
			protocol.MethodPromptsList: `{"prompts":[{"name":"q"}]}`,
			protocol.MethodPromptsGet:  `{"c":1}`,
		}},
	}
}

func TestResourcesAreFound(t *testing.T) {
	for _, test := range []struct {
		name, params, answer string
		reads                []string
	}{
		{"the first keeps it", `{"uri":"x:1"}`, `{"contents":[{"uri":"x:1","text":"a"}]}`, []string{`a {"uri":"x:1"}`}},
		{"a later one under its new name", `{"uri": "workbench://t/b/x%3A1" ,"_meta":{}}`, `{"code":-32602,"message":"there is no x"}`, []string{`b {"uri": "x:1" ,"_meta":{}}`}},
		{"which it has in the answer", `{"uri":"workbench://t/b/x%3A1"}`, `{"contents":[{"uri":"workbench://t/b/x%3A1","text":"b"},{"uri":"x:2"},{"uri":"x:9"}]}`, []string{`b {"uri":"x:1"}`}},
		{"a new name for what was not renamed", `{"uri":"workbench://t/a/x%3A1"}`, `{"contents":[{"uri":"workbench://t/a/x%3A1","text":"a"}]}`, []string{`a {"uri":"x:1"}`}},
		{"listed before template", `{"uri":"n:listed"}`, `{"code":-32002,"message":"Resource not found"}`, []string{`a {"uri":"n:listed"}`}},
		{"template", `{"uri":"n:else"}`, `{"b":"n"}`, []string{`b {"uri":"n:else"}`}},
		{"template of the first", `{"uri":"note:1"}`, `{"contents":[{"uri":"note:1","text":"a"}]}`, []string{`a {"uri":"note:1"}`}},
		{"template of another", `{"uri":"note:2"}`, `{"contents":[{"uri":"note:2","text":"b"}]}`, []string{`a {"uri":"note:2"}`, `b {"uri":"note:2"}`}},
		{"template of another by its new name", `{"uri":"workbench://t/b//note:2"}`, `{"contents":[{"uri":"workbench://t/b//note:2","text":"b"}]}`, []string{`b {"uri":"note:2"}`}},
		{"asked everywhere", `{"uri":"z:1"}`, `{"code":-32602,"message":"there is no x"}`, []string{`a {"uri":"z:1"}`, `b {"uri":"z:1"}`}},
		{"nowhere", `{"uri":"x"}`, `{"code":0,"message":"Unknown resource: that"}`, []string{`a {"uri":"x"}`, `b {"uri":"x"}`, `c {"uri":"x"}`}},
		{"nowhere we know", `{"uri":"workbench://t/x/x%3A1"}`, `{"code":-32602,"message":"there is no x"}`, []string{`a {"uri":"workbench://t/x/x%3A1"}`, `b {"uri":"workbench://t/x/x%3A1"}`}},
		{"no URI", `{"uri":5}`, `{"code":-32602,"message":"Invalid params: 'uri' must be a string, the URI of a resource"}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, "", three()...)
			for _, first := range []string{"", protocol.MethodResourcesList} { // whether or not the client ever saw the list
				if first != "" {
					b.ask(t, first, `{}`)
				}
				b.want(t, protocol.MethodResourcesRead, test.params, test.answer)
				var reads []string
				for _, sent := range b.takeSent() {
					if server, params, ok := strings.Cut(sent, " "+protocol.MethodResourcesRead+" "); ok {
						reads = append(reads, server+" "+params)
					}
				}
				if fmt.Sprint(reads) != fmt.Sprint(test.reads) {
					t.Errorf("asked %q, want %q", reads, test.reads)
				}
			}
		})
	}
}

// The server that is first in the file listed its templates last.
func TestATemplateBelongsToTheFirstComer(t *testing.T) {
	answers := func(name string) map[string]string {
		return map[string]string{
			protocol.MethodTemplatesList: `{"resourceTemplates":[{"uriTemplate":"n:{id}"}]}`,
			protocol.MethodResourcesRead: `{"contents":[{"uri":"n:1","text":"` + name + `"}]}`,
			protocol.MethodComplete:      `{"completion":{"values":["` + name + `"]}}`,
		}
	}
	late := &fake{name: "t/a", answers: answers("a")}
	b := newBench(t, "", late, &fake{name: "t/b", capabilities: hasResources, answers: answers("b")}, &fake{name: "t/c", capabilities: hasResources, answers: answers("c")})
	b.want(t, protocol.MethodTemplatesList, `{}`, `{"resourceTemplates":[{"uriTemplate":"n:{id}"},{"uriTemplate":"workbench://t/c//n:{id}"}]}`)
	late.capabilities = hasResources
	b.start(t, late)
	b.want(t, protocol.MethodTemplatesList, `{}`, `{"resourceTemplates":[{"uriTemplate":"workbench://t/a//n:{id}"},{"uriTemplate":"n:{id}"},{"uriTemplate":"workbench://t/c//n:{id}"}]}`)
	for as, name := range map[string]string{"n:": "b", "workbench://t/a//n:": "a", "workbench://t/c//n:": "c"} {
		b.want(t, protocol.MethodResourcesRead, `{"uri":"`+as+`1"}`, `{"contents":[{"uri":"`+as+`1","text":"`+name+`"}]}`)
		b.want(t, protocol.MethodComplete, `{"ref":{"type":"ref/resource","uri":"`+as+`{id}"}}`, `{"completion":{"values":["`+name+`"]}}`,
			name+` completion/complete {"ref":{"type":"ref/resource","uri":"n:{id}"}}`)
	}
	// Links in what a server answers lead to its own.
	link := `{"content":[{"type":"resource_link","uri":"n:1"},{"type":"resource_link","uri":"m:1"}]}`
	for server, want := range map[string]string{
		"a": `{"content":[{"type":"resource_link","uri":"workbench://t/a//n:1"},{"type":"resource_link","uri":"m:1"}]}`,
		"b": link,
	} {
		edits := b.LinkEdits(b.client, toolbox.Ref{Toolbox: "t", Server: server}, wire.Raw([]byte(link)))
		if got := string(wire.AppendEdited(nil, wire.Raw([]byte(link)), edits...)); got != want {
			t.Errorf("%s: got %s", server, got)
		}
	}
}

func TestListsThatChanged(t *testing.T) {
	fakes := three()
	b := newBench(t, "", fakes...)
	for range 2 {
		b.want(t, protocol.MethodResourcesRead, `{"uri":"x:2"}`, `{"code":-32602,"message":"there is no x"}`, `b resources/read {"uri":"x:2"}`)
	}
	fakes[0].answers[protocol.MethodResourcesList] = `{"resources":[{"uri":"x:3"}]}`
	fakes[0].answers[protocol.MethodResourcesRead+` {"uri":"x:3"}`] = `{"a":3}`
	b.start(t, fakes[0])
	b.want(t, protocol.MethodResourcesRead, `{"uri":"x:3"}`, `{"a":3}`, `a resources/read {"uri":"x:3"}`)
}

// What a list or a template names starts its server; what nobody knows is asked of those that run.
func TestOnlyTheServerThatARequestIsForStarts(t *testing.T) {
	for _, test := range []struct {
		name, method, params string
		sent                 []string
	}{
		{"listed", protocol.MethodResourcesRead, `{"uri":"x:2"}`, []string{`b resources/read {"uri":"x:2"}`}},
		{"renamed", protocol.MethodResourcesRead, `{"uri":"workbench://t/b/x%3A1"}`, []string{`b resources/read {"uri":"x:1"}`}},
		{"template", protocol.MethodResourcesRead, `{"uri":"n:else"}`, []string{`b resources/read {"uri":"n:else"}`}},
		{"unknown", protocol.MethodResourcesRead, `{"uri":"z:1"}`, []string{`c resources/read {"uri":"z:1"}`}},
		{"subscription", protocol.MethodSubscribe, `{"uri":"x:2"}`, []string{`b resources/subscribe {"uri":"x:2"}`}},
		{"unknown subscription", protocol.MethodSubscribe, `{"uri":"z:1"}`, []string{`c resources/subscribe {"uri":"z:1"}`}},
		{"prompt", protocol.MethodPromptsGet, `{"name":"b__p"}`, []string{`b prompts/get {"name":"p"}`}},
		{"unknown prompt", protocol.MethodPromptsGet, `{"name":"z"}`, []string{`c prompts/get {"name":"z"}`}},
		{"completion", protocol.MethodComplete, `{"ref":{"type":"ref/prompt","name":"p"}}`, []string{`a completion/complete {"ref":{"type":"ref/prompt","name":"p"}}`}},
		{"unknown task", protocol.MethodTasksGet, `{"taskId":"1"}`, []string{`c tasks/get {"taskId":"1"}`}},
		{"tasks", protocol.MethodTasksList, `{}`, []string{`c tasks/list {}`}},
		{"level", protocol.MethodSetLevel, `{"level":"info"}`, nil},
		{"resources", protocol.MethodResourcesList, `{}`, nil},
		{"templates", protocol.MethodTemplatesList, `{}`, nil},
		{"prompts", protocol.MethodPromptsList, `{}`, nil},
		{"unknown method", "x/y", `{}`, nil},
	} {
		for _, mode := range []config.ToolMode{config.Proxy, config.Dynamic, config.Direct} {
			fakes := three()
			fakes[0].stopped, fakes[1].stopped = true, true
			b := newBench(t, mode, append(fakes, &fake{name: "v/never"})...)
			b.ask(t, test.method, test.params)
			if sent := b.takeSent(); !slices.Equal(sent, test.sent) {
				t.Errorf("%s: sent %q, want %q", test.name, sent, test.sent)
			}
		}
	}
}

func TestWhatNobodyRunsFor(t *testing.T) {
	fakes := three()
	for _, f := range fakes {
		f.stopped = true
	}
	b := newBench(t, "", append(fakes[1:], &fake{name: "v/never"})...)
	const unasked = `Not connected, and so not asked: server 'b' (toolbox 't'), server 'c' (toolbox 'u'), server 'never' (toolbox 'v'). To connect a server, call open_toolbox with its toolbox, and then try again`
	b.want(t, protocol.MethodResourcesRead, `{"uri":"z:1"}`, `{"code":-32002,"message":"Resource not found: 'z:1'. `+unasked+`","data":{"uri":"z:1"}}`, []string{}...)
	b.want(t, protocol.MethodPromptsGet, `{"name":"z"}`, `{"code":-32602,"message":"Prompt not found: 'z'. `+unasked+`"}`, []string{}...)
	b.client.open = nil
	b.want(t, protocol.MethodPromptsGet, `{"name":"z"}`, `{"code":-32602,"message":"Prompt not found: 'z'. No toolbox is open; call open_toolbox first"}`, []string{}...)
	// What is known needs no open toolbox.
	b.want(t, protocol.MethodPromptsGet, `{"name":"q"}`, `{"b":1}`, `b prompts/get {"name":"q"}`)
	b.OpenedOnly = true
	b.want(t, protocol.MethodPromptsGet, `{"name":"q"}`, `{"code":-32602,"message":"Prompt not found: 'q'. No toolbox is open; call open_toolbox first"}`, []string{}...)
}

func TestPromptsAreFound(t *testing.T) {
	for _, test := range []struct{ params, answer, sent string }{
		{`{"name":"p"}`, `{"a":1}`, `a prompts/get {"name":"p"}`},
		{`{"name":"b__p","arguments":{ }}`, `{"b":1}`, `b prompts/get {"name":"p","arguments":{ }}`},
		{`{"name":"q"}`, `{"b":1}`, `b prompts/get {"name":"q"}`},
		{`{"name":"c__q"}`, `{"c":1}`, `c prompts/get {"name":"q"}`},
		{`{"name":"unlisted"}`, `{"b":1}`, `b prompts/get {"name":"unlisted"}`},
		{`{}`, `{"code":-32602,"message":"Invalid params: 'name' must be a string, the name of a prompt"}`, ""},
	} {
		b := newBench(t, "", three()...)
		b.want(t, protocol.MethodPromptsGet, test.params, test.answer)
		if last := b.takeSent(); test.sent != "" && last[len(last)-1] != test.sent {
			t.Errorf("sent %q", last)
		}
	}
}

// Prompts that were renamed keep their names when just one server is left in scope.
func TestRenamedStaysFoundWhenAlone(t *testing.T) {
	fakes := three()
	b := newBench(t, "", fakes...)
	b.ask(t, protocol.MethodPromptsList, `{}`)
	b.ask(t, protocol.MethodResourcesList, `{}`)
	fakes[0].capabilities, fakes[2].capabilities = "{}", "{}"
	b.start(t, fakes[0])
	b.start(t, fakes[2])
	b.want(t, protocol.MethodPromptsGet, `{"name":"b__p"}`, `{"b":1}`, `b prompts/get {"name":"p"}`)
	b.want(t, protocol.MethodPromptsList, `{}`, `{"prompts":[{"name":"b__p"},{"name":"q"}]}`)
	b.want(t, protocol.MethodResourcesList, `{}`, `{"resources":[{"uri":"workbench://t/b/x%3A1"},{"uri":"x:2"}]}`)
	b.client.open = []string{"u"}
	fakes[2].capabilities = hasPrompts
	b.start(t, fakes[2])
	b.want(t, protocol.MethodPromptsGet, `{"name":"c__q"}`, `{"c":1}`, `c prompts/get {"name":"q"}`)
}

func TestCompletions(t *testing.T) {
	for _, test := range []struct{ ref, answer, sent string }{
		{`{"type":"ref/prompt","name":"p"}`, "a", `a completion/complete {"ref":{"type":"ref/prompt","name":"p"}}`},
		{`{"type":"ref/prompt","name":"b__p"}`, "b", `b completion/complete {"ref":{"type":"ref/prompt","name":"p"}}`},
		{`{"type":"ref/resource","uri":"note:{id}"}`, "a", ""},
		{`{"type":"ref/resource","uri":"n:{+all}"}`, "b", ""},
		{`{"type":"ref/resource","uri":"x:2"}`, "b", ""},
		{`{"uri":"workbench://t/b/x%3A1","type":"ref/resource"}`, "b", `b completion/complete {"ref":{"uri":"x:1","type":"ref/resource"}}`},
		{`{"type":"ref/prompt","name":"c__q"}`, "", `c completion/complete {"ref":{"type":"ref/prompt","name":"q"}}`}, // it cannot complete
		{`{"type":"ref/prompt"}`, "!", ""},
		{`{"type":"ref/new","name":"p"}`, "!", ""},
	} {
		b := newBench(t, "", three()...)
		want := `{"completion":{"values":["` + test.answer + `"]}}`
		switch test.answer {
		case "":
			want = noCompletion
		case "!":
			want = `{"code":-32602,"message":"Invalid params: 'ref' must name a prompt, or a resource by its URI or template"}`
		}
		b.want(t, protocol.MethodComplete, `{"ref":`+test.ref+`}`, want)
		if last := b.takeSent(); test.sent != "" && last[len(last)-1] != test.sent {
			t.Errorf("sent %q", last)
		}
	}
}

func TestTasks(t *testing.T) {
	fakes := three()
	b := newBench(t, "", fakes...)
	b.want(t, protocol.MethodTasksGet, `{"taskId":"7"}`, `{"taskId":"7","b":1}`, `a tasks/get {"taskId":"7"}`, `b tasks/get {"taskId":"7"}`)
	b.LearnTask(b.client, toolbox.Ref{Toolbox: "t", Server: "b"}, wire.Raw([]byte(`{"task":{"taskId":"7"}}`)))
	b.want(t, protocol.MethodTasksGet, `{"taskId":"7"}`, `{"taskId":"7","b":1}`, `b tasks/get {"taskId":"7"}`)
	b.LearnTask(b.client, toolbox.Ref{Toolbox: "t", Server: "b"}, wire.Raw([]byte(`{"content":[]}`)))
	fakes[2].answers[protocol.MethodTasksList] = `{"tasks":[{"taskId":"8"}]}`
	fakes[2].answers[protocol.MethodTasksResult] = `{"c":8}`
	b.ask(t, protocol.MethodTasksList, `{}`)
	b.want(t, protocol.MethodTasksResult, `{"taskId":"8"}`, `{"c":8}`, `c tasks/result {"taskId":"8"}`)
	b.want(t, protocol.MethodTasksCancel, `{}`, `{"code":-32602,"message":"Invalid params: 'taskId' must be a string, the id of a task"}`, []string{}...)

	for i := range maxTasks + 1 {
		b.LearnTask(b.client, toolbox.Ref{Toolbox: "t", Server: "a"}, wire.Raw(fmt.Appendf(nil, `{"task":{"taskId":"n%d"}}`, i)))
	}
	m := b.client.memory
	if n := len(m.tasks.tasks); n != maxTasks || len(m.tasks.ids) != maxTasks || len(m.tasks.order) != maxTasks {
		t.Errorf("%d tasks are remembered", n)
	}
	if _, ok := m.taskOwner("n0"); ok {
		t.Error("the oldest task is still remembered")
	}
}

func TestAFailedServerIsNotTheLastWord(t *testing.T) {
	fakes := three()
	fakes[0].answers[protocol.MethodResourcesRead] = "status 500"
	fakes[1].answers[protocol.MethodResourcesRead] = `{"code":-32002,"message":"no"}`
	b := newBench(t, "", fakes...)
	b.want(t, protocol.MethodResourcesRead, `{"uri":"z:1"}`, `{"contents":[{"uri":"z:1","text":"c"}]}`)
}

func TestIsMissing(t *testing.T) {
	for _, test := range []struct {
		object string
		want   bool
	}{
		{`{"code":-32002,"message":"whatever"}`, true},
		{`{"code":-32601,"message":"Method not found"}`, true},
		{`{"code":-32602,"message":"Resource x:1 not found"}`, true},
		{`{"code":-32602,"message":"bad: X:1"}`, true},
		{`{"code":-32602,"message":"bad cursor"}`, false},
		{`{"code":-32603,"message":"Unknown resource: x:1"}`, true},
		{`{"code":-32603,"message":"x:1 is on fire"}`, false},
		{`{"code":0,"message":"No such file"}`, true},
		{`{"code":-32042,"message":"not found"}`, false},
		{`{"code":-32001,"message":"not found"}`, false},
		{`{"message":"disk full"}`, false},
	} {
		if got := isMissing(wire.Raw([]byte(test.object)), "x:1"); got != test.want {
			t.Errorf("%s: %t", test.object, got)
		}
	}
}
