package passthrough

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

const hasResources, hasPrompts, hasTasks = `{"resources":{}}`, `{"prompts":{}}`, `{"tasks":{}}`

func TestOneServerGetsRequestsAsTheyAre(t *testing.T) {
	odd := `{ "resources" : [ {"uri":"x:1" , "n":1.0} ],"nextCursor":"2", "_meta":{}}`
	for _, others := range [][]*fake{
		nil,
		{{name: "t/b", capabilities: `{"tools":{},"resources":null}`}},
		{{name: "t/b"}, {name: "u/c", capabilities: `{}`}},
	} {
		one := &fake{name: "t/a", capabilities: `{"resources":{},"prompts":{},"logging":{},"completions":{},"tasks":{}}`, answers: map[string]string{
			protocol.MethodResourcesList: odd, protocol.MethodResourcesRead: `{"contents":[{"uri":"y:2"}]}`, protocol.MethodPromptsList: `{"prompts":[],"x":1}`,
			protocol.MethodPromptsGet: `{"code":-32602,"message":"no","data":1}`, protocol.MethodSetLevel: `{"odd":1}`, protocol.MethodTasksGet: `{"taskId":"1"}`,
			protocol.MethodComplete: `{"completion":{"values":["a"]}}`,
		}}
		b := newBench(t, "", append([]*fake{one}, others...)...)
		for method, answer := range one.answers {
			params := `{"cursor":"1", "_meta":{"trace":7} }`
			if method == protocol.MethodSetLevel && len(others) > 0 {
				answer = "{}" // one answer for all
				b.want(t, method, `{"level":"info"}`, answer)
				continue
			}
			if (method == protocol.MethodResourcesList || method == protocol.MethodPromptsList) && len(others) > 0 {
				continue // what is known of all servers
			}
			b.want(t, method, params, answer, "a "+method+" "+params)
		}
	}
}

// What it listed before is known, and that it is the only one is no reason to start it.
func TestTheOnlyServerIsNotStartedForAList(t *testing.T) {
	for _, mode := range []config.ToolMode{config.Proxy, config.Dynamic, config.Direct} {
		b := newBench(t, mode, &fake{name: "t/a", capabilities: `{"resources":{},"prompts":{}}`, stopped: true, answers: map[string]string{
			protocol.MethodPromptsList: `{"prompts":[{"name":"p"}]}`, protocol.MethodPromptsGet: `{"messages":[]}`,
		}})
		b.want(t, protocol.MethodPromptsList, `{}`, `{"prompts":[{"name":"p"}]}`, []string{}...)
		b.want(t, protocol.MethodTemplatesList, `{}`, `{"resourceTemplates":[]}`, []string{}...)
		b.want(t, protocol.MethodTasksList, `{}`, `{"tasks":[]}`, []string{}...)
		b.want(t, protocol.MethodSetLevel, `{"level":"info"}`, `{}`, []string{}...)
		b.want(t, protocol.MethodPromptsGet, `{"name":"p"}`, `{"messages":[]}`, `a prompts/get {"name":"p"}`)
	}
	b := newBench(t, "", &fake{name: "t/never"})
	b.want(t, protocol.MethodResourcesList, `{}`, `{"resources":[]}`, []string{}...)
}

func TestUnknownMethods(t *testing.T) {
	a := &fake{name: "t/a", capabilities: "{}", answers: map[string]string{"x/y": `{"z":1}`}}
	b := newBench(t, "", a)
	b.want(t, "x/y", `[1]`, `{"z":1}`, "a x/y [1]")
	b.want(t, "x/z", ``, `{"code":-32601,"message":"Method not found"}`, "a x/z")
	b.client.open = nil
	b.want(t, "x/y", ``, `{"code":-32601,"message":"Method not found: 'x/y'. No toolbox is open that has a server which may know it; call open_toolbox first"}`, []string{}...)
	b = newBench(t, "", a, &fake{name: "t/b"})
	if got := b.ask(t, "x/y", "{}"); !strings.HasPrefix(got, `{"code":-32601,"message":"Method not found: 'x/y'. `) || !strings.Contains(got, "there are 2") {
		t.Errorf("got %s", got)
	}
}

func TestNobody(t *testing.T) {
	for _, test := range []struct{ method, params, want string }{
		{protocol.MethodResourcesList, `{}`, `{"resources":[]}`},
		{protocol.MethodTemplatesList, ``, `{"resourceTemplates":[]}`},
		{protocol.MethodPromptsList, `{}`, `{"prompts":[]}`},
		{protocol.MethodTasksList, `{}`, `{"tasks":[]}`},
		{protocol.MethodComplete, `{}`, noCompletion},
		{protocol.MethodSetLevel, `{"level":"debug"}`, `{}`},
		{protocol.MethodSetLevel, `{"level":"loud"}`, `{"code":-32602,"message":"Invalid params: 'level' must be one of debug, info, notice, warning, error, critical, alert, emergency"}`},
		{protocol.MethodResourcesRead, `{"uri":"x:1"}`, `{"code":-32002,"message":"Resource not found: 'x:1'. WHY","data":{"uri":"x:1"}}`},
		{protocol.MethodPromptsGet, `{"name":"p"}`, `{"code":-32602,"message":"Prompt not found: 'p'. WHY"}`},
		{protocol.MethodTasksGet, `{"taskId":"7"}`, `{"code":-32602,"message":"Task not found: '7'. WHY"}`},
	} {
		for _, scene := range []struct {
			fakes []*fake
			mode  config.ToolMode
			isWhy func(string) bool
		}{
			{nil, "", is("No toolbox is open; call open_toolbox first")},
			{nil, config.Direct, is("No servers are configured")},
			{[]*fake{{name: "t/a", capabilities: "{}"}, {name: "t/b", capabilities: "{}"}}, "", has("No server offers ")},
			{[]*fake{{name: "t/a", capabilities: "{}"}, {name: "t/b"}}, "", is("Not connected, and so not asked: server 'b' (toolbox 't'). To connect a server, call open_toolbox with its toolbox, and then try again")},
		} {
			b := newBench(t, scene.mode, scene.fakes...)
			got := b.ask(t, test.method, test.params)
			before, after, found := strings.Cut(test.want, "WHY")
			rest, ok := strings.CutPrefix(got, before)
			why, ok2 := strings.CutSuffix(rest, after)
			if !ok || found && (!ok2 || !scene.isWhy(why)) || !found && got != test.want {
				t.Errorf("%s: got %s, want %s", test.method, got, test.want)
			}
		}
	}
}

func is(want string) func(string) bool { return func(s string) bool { return s == want } }
func has(want string) func(string) bool {
	return func(s string) bool { return strings.Contains(s, want) }
}

// Clients are told of resources and the like before anything is open. That a server does
// not know them is no error then.
func TestWhatWeDeclaredIsNoError(t *testing.T) {
	for mode, direct := range map[config.ToolMode]bool{"": false, config.Dynamic: false, config.Direct: true} {
		b := newBench(t, mode, &fake{name: "t/a", capabilities: "{}"})
		for method, want := range map[string]string{
			protocol.MethodResourcesList: `{"resources":[]}`, protocol.MethodPromptsList: `{"prompts":[]}`, protocol.MethodSetLevel: `{}`, protocol.MethodComplete: noCompletion,
		} {
			if direct {
				want = `{"code":-32601,"message":"Method not found"}`
			}
			b.want(t, method, `{"level":"info"}`, want)
		}
		b.want(t, protocol.MethodResourcesRead, `{"uri":"x:1"}`, `{"code":-32601,"message":"Method not found"}`)
	}
}

func TestScope(t *testing.T) {
	lists := func(uri string) map[string]string {
		return map[string]string{protocol.MethodResourcesList: `{"resources":[{"uri":"` + uri + `"}]}`}
	}
	fakes := []*fake{
		{name: "t/a", capabilities: hasResources, answers: lists("x:a")},
		{name: "u/b", capabilities: hasResources, answers: lists("x:b")},
		{name: "v/c", capabilities: hasResources, answers: lists("x:c")},
	}
	b := newBench(t, "", fakes...)
	b.client.open = nil
	b.want(t, protocol.MethodResourcesList, `{}`, `{"resources":[{"uri":"x:a"},{"uri":"x:b"},{"uri":"x:c"}]}`, []string{}...)
	b = newBench(t, "", fakes...)
	b.OpenedOnly = true
	b.client.open = []string{"v", "t"}
	b.want(t, protocol.MethodResourcesList, `{}`, `{"resources":[{"uri":"x:a"},{"uri":"x:c"}]}`)
	b.client.open = []string{"u"}
	b.want(t, protocol.MethodResourcesList, `{}`, `{"resources":[{"uri":"x:b"}]}`)
	b = newBench(t, config.Direct, fakes...)
	b.client.open = nil
	b.want(t, protocol.MethodResourcesList, `{}`, `{"resources":[{"uri":"x:a"},{"uri":"x:b"},{"uri":"x:c"}]}`)
}

func TestFailuresAreTold(t *testing.T) {
	b := newBench(t, "", &fake{name: "t/a", capabilities: hasResources, answers: map[string]string{protocol.MethodResourcesRead: "status 500"}})
	b.want(t, protocol.MethodResourcesRead, `{"uri":"x:1"}`, `{"code":-32603,"message":"'resources/read' failed in server 'a' (toolbox 't'): the server answered with HTTP status 500 (Internal Server Error)"}`)
	b.refuseWith(&call.Failure{Message: "it crashed", Hint: "Mend it."})
	b.want(t, protocol.MethodResourcesRead, `{"uri":"x:1"}`, `{"code":-32603,"message":"'resources/read' failed in server 'a' (toolbox 't'): it crashed\nMend it."}`, []string{}...)
}

func TestProgressOfTheOnlyServer(t *testing.T) {
	for _, era := range []string{"", "modern"} {
		b := newBench(t, "", &fake{name: "t/a", capabilities: hasResources, spec: `{"era":"` + era + `","capabilities":{"resources":{}},
			"on":{"resources/read":[{"progress":{"progress":1}},{"result":{"contents":[]}}]}}`})
		b.ask(t, protocol.MethodResourcesRead, `{"uri":"x:1","_meta":{"progressToken":"mine"}}`)
		if want := []string{`notifications/progress {"progressToken":"mine","progress":1}`}; !slices.Equal(b.client.told, want) {
			t.Errorf("era %q: told %q, want %q", era, b.client.told, want)
		}
	}
}

func TestCancelling(t *testing.T) {
	for _, test := range []struct {
		name, method, params string
		first                map[string]string
	}{
		{"one server", protocol.MethodResourcesRead, `{"uri":"x:1"}`, nil},
		{"a list of several", protocol.MethodTasksList, `{}`, map[string]string{protocol.MethodTasksList: `{"tasks":[]}`}},
		{"one of several", protocol.MethodResourcesRead, `{"uri":"x:1"}`, map[string]string{protocol.MethodResourcesList: `{"resources":[]}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			hanging := map[string]string{protocol.MethodResourcesRead: "hang", protocol.MethodTasksList: "hang"}
			const both = `{"resources":{},"tasks":{}}`
			fakes := []*fake{{name: "t/a", capabilities: both, answers: hanging}}
			if test.first != nil {
				fakes = append(fakes, &fake{name: "t/b", capabilities: both, answers: test.first})
			}
			b := newBench(t, "", fakes...)
			var canceller call.Canceller
			reply := b.begin(b.client, &canceller, test.method, test.params)
			<-b.asked
			canceller.Cancel(call.Cancelled{Reason: []byte(`"enough"`)})
			a := <-reply
			if _, ok := errors.AsType[call.Cancelled](a.err); !ok {
				t.Errorf("got %s %s %v", a.outcome.Result.Bytes(), a.outcome.Error.Bytes(), a.err)
			}
			for !slices.ContainsFunc(b.takeSent(), func(sent string) bool {
				return strings.HasPrefix(sent, "a notifications/cancelled ") && strings.HasSuffix(sent, `,"reason":"enough"}`)
			}) {
				b.awaitSent(t, 1)
			}
			if len(reply) > 0 {
				t.Error("answered twice")
			}
			if b.log.Len() > 0 {
				t.Errorf("logged: %s", b.log)
			}
		})
	}
}

// screener records what stages see of requests.
type screener struct{ seen []string }

func (s *screener) Screen(request *call.Call) *call.Failure {
	s.seen = append(s.seen, request.Server.Name()+" "+request.Method+" "+request.Name)
	return nil
}

func TestStagesSeeTheSubject(t *testing.T) {
	for _, test := range []struct{ capabilities, method, params, want string }{
		{hasResources, protocol.MethodResourcesRead, `{"uri":"x:1"}`, "x:1"},
		{hasResources, protocol.MethodSubscribe, `{"uri":"x:1"}`, "x:1"},
		{hasResources, protocol.MethodUnsubscribe, `{"uri":"x:1"}`, "x:1"},
		{hasPrompts, protocol.MethodPromptsGet, `{"name":"p"}`, "p"},
		{hasTasks, protocol.MethodTasksGet, `{"taskId":"7"}`, "7"},
		{hasPrompts, protocol.MethodComplete, `{"ref":{"type":"ref/prompt","name":"p"}}`, ""},
		{hasPrompts, "custom/method", `{"name":"p"}`, ""},
	} {
		b := newBench(t, "", &fake{name: "t/a", capabilities: test.capabilities, answers: map[string]string{test.method: `{}`}})
		stage := new(screener)
		b.Router = call.NewRouter(call.Stages{Screen: []call.Screener{stage}})
		b.ask(t, test.method, test.params)
		if want := "a " + test.method + " " + test.want; len(stage.seen) != 1 || stage.seen[0] != want {
			t.Errorf("seen %q, want %q", stage.seen, want)
		}
	}
}
