package call

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// answerer is a client of a client, which answers questions as it is told.
type answerer struct {
	*caller
	profile *fleet.ClientProfile
	ask     func(q *downstream.Question)
}

func newAnswerer(t *testing.T, options fleet.ProfileOptions, ask func(q *downstream.Question)) *answerer {
	options.Notice = func(*fleet.Server, wire.Message) {}
	options.Ask = func(q *downstream.Question) { q.RefuseUnsupported() }
	a := &answerer{newCaller(), fleet.NewClientProfile(options), ask}
	t.Cleanup(a.profile.Close)
	return a
}

func (a *answerer) Ask(q *downstream.Question) { a.ask(q) }

func (a *answerer) Profile() *fleet.ClientProfile { return a.profile }

func (a *answerer) call(servers *fleet.Fleet, meta string) *Canceller {
	canceller := new(Canceller)
	new(Router).CallTool(servers, &Request{
		Ref: toolbox.Ref{Toolbox: "T", Server: "S", Name: "x"}, Arguments: wire.Raw([]byte(`{"a":1.0}`)), Meta: wire.Raw([]byte(meta)),
		Client: a, Canceller: canceller, Replier: a,
	})
	return canceller
}

func respond(raw string) wire.Message { return wire.Message{Result: wire.Raw([]byte(raw))} }

var everything = fleet.ProfileOptions{Capabilities: []byte(`{"elicitation":{},"sampling":{}}`)}

const twoRounds = `{"era":"modern",` + tools + `,"calls":{"x":[
	{"state":"","result":{"resultType":"input_required","requestState":"one","inputRequests":{
		"q \" 1":{"method":"elicitation/create","params":{"message":"who?"}},"q2":{"method":"sampling/createMessage","params":{}}}}},
	{"state":"one","result":{"resultType":"input_required","requestState":"two"}},
	{"state":"two","result":{"resultType":"complete","content":[ ]}}]}}`

// oneLine lets a spec of a fake be written on several lines.
func oneLine(spec string) string { return strings.NewReplacer("\n", "", "\t", "").Replace(spec) }

func TestInputIsAskedForAndTheCallSentAgain(t *testing.T) {
	servers, log := serve(t, oneLine(twoRounds))
	asked := make(chan *downstream.Question, 2)
	a := newAnswerer(t, everything, func(q *downstream.Question) { asked <- q })
	a.call(servers, `{"x":1}`)
	first, second := await(t, asked), await(t, asked) // both at once
	if first.Method != "elicitation/create" || string(first.Params.Bytes()) != `{"message":"who?"}` {
		t.Errorf("the client was asked %s %s", first.Method, first.Params.Bytes())
	}
	second.Answer(respond(`{"model":"m"}`))
	first.Answer(respond(`{"action":"accept" }`))
	got := await(t, a.replies)
	if got.err != nil || string(got.outcome.Result.Bytes()) != `{"content":[ ]}` {
		t.Errorf("the outcome is %s, %v", got.outcome.Result.Bytes(), got.err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"id":4,"method":"tools/call","params":{"name":"x","_meta":{"x":1,`,
		`"id":5,"method":"tools/call","params":{"name":"x","_meta":{"x":1,`,
		`"inputResponses":{"q \" 1":{"action":"accept" },"q2":{"model":"m"}},"requestState":"one","arguments":{"a":1.0}}}`,
		`,"requestState":"two","arguments":{"a":1.0}}}`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the server did not get %s; it got\n%s", want, text)
		}
	}
}

func TestInputThatCannotBeHad(t *testing.T) {
	const question = `{"era":"modern",` + tools + `,"calls":{"x":[{"result":{"resultType":"input_required","inputRequests":{
		"a":{"method":"elicitation/create","params":{}},"b":{"method":"sampling/createMessage","params":{}}}}}]}}`
	endless := strings.Replace(question, `,"b":{"method":"sampling/createMessage","params":{}}`, "", 1)
	for _, test := range []struct {
		name, spec, capabilities string
		ask                      func(q *downstream.Question)
		want                     string
	}{
		{name: "not declared", spec: question, capabilities: `{"elicitation":{}}`, want: "needs input (elicitation, sampling) that this client cannot be asked for"},
		{
			name: "unsupported after all", spec: question, capabilities: `{"elicitation":{},"sampling":{}}`,
			ask: (*downstream.Question).RefuseUnsupported, want: "needs input (elicitation) that this client cannot be asked for",
		},
		{
			name: "refused", spec: question, capabilities: `{"elicitation":{},"sampling":{}}`,
			ask: func(q *downstream.Question) { q.Refuse(-1, "no time") }, want: "the client refused the server's question 'elicitation/create': no time",
		},
		{
			name: "without end", spec: endless, capabilities: `{"elicitation":{}}`,
			ask: func(q *downstream.Question) { q.Answer(respond(`{}`)) }, want: "more than 16 times",
		},
		{
			name: "unknown", spec: strings.Replace(question, "sampling/createMessage", "other/thing", 1), capabilities: `{"elicitation":{}}`,
			want: "cannot be asked for",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			servers, _ := serve(t, oneLine(test.spec))
			a := newAnswerer(t, fleet.ProfileOptions{Capabilities: []byte(test.capabilities)}, test.ask)
			a.call(servers, `{}`)
			got := await(t, a.replies)
			if failure, ok := errors.AsType[*Failure](got.err); !ok || !strings.Contains(failure.Message, test.want) {
				t.Errorf("the reply is %v, want %s", got.err, test.want)
			}
		})
	}
}

func TestCallIsCancelledWhileTheClientIsAsked(t *testing.T) {
	servers, _ := serve(t, oneLine(twoRounds))
	asked, withdrawn := make(chan struct{}, 2), make(chan struct{}, 2)
	a := newAnswerer(t, everything, func(q *downstream.Question) {
		q.OnWithdraw(func(wire.Payload) { withdrawn <- struct{}{} })
		asked <- struct{}{}
	})
	canceller := a.call(servers, `{}`)
	await(t, asked)
	await(t, asked)
	canceller.Cancel(Cancelled{})
	if got := await(t, a.replies); !errors.Is(got.err, Cancelled{}) && got.err.Error() != (Cancelled{}).Error() {
		t.Errorf("the reply is %v, want the cancellation", got.err)
	}
	await(t, withdrawn)
	await(t, withdrawn)
}

func TestServerEndsWhileTheClientIsAsked(t *testing.T) {
	spec := strings.Replace(oneLine(twoRounds), `{"state":"",`, `{"state":"","send":"x"},{"state":"",`, 1)
	servers, _ := serve(t, strings.Replace(spec, `"calls":{`, `"calls":{"y":[{"exit":3}],`, 1))
	withdrawn := make(chan struct{}, 2)
	asked := make(chan struct{}, 2)
	a := newAnswerer(t, everything, func(q *downstream.Question) {
		q.OnWithdraw(func(wire.Payload) { withdrawn <- struct{}{} })
		asked <- struct{}{}
	})
	a.call(servers, `{}`)
	await(t, asked)
	await(t, asked)
	other := newCaller()
	new(Router).CallTool(servers, &Request{Ref: toolbox.Ref{Toolbox: "T", Server: "S", Name: "y"}, Client: &answerer{other, a.profile, nil}, Canceller: new(Canceller), Replier: other})
	if got := await(t, a.replies); got.err == nil || !strings.Contains(got.err.Error(), "code 3") {
		t.Errorf("the reply is %v, want how the server ended", got.err)
	}
	await(t, withdrawn)
	await(t, withdrawn)
	await(t, other.replies)
}

func TestTaskIsWaitedFor(t *testing.T) {
	for _, test := range []struct{ name, polled, want, problem string }{
		{"completed", `{"result":{"resultType":"complete","status":"completed","result":{"resultType":"complete","content":[]}}}`, `{"content":[]}`, ""},
		{"failed", `{"result":{"status":"failed","error":{"code":1,"message":"no luck"}}}`, "", "no luck"},
		{"cancelled", `{"result":{"status":"cancelled"}}`, "", "cancelled the task"},
		{"unknown", `{"error":{"code":1,"message":"no such task"}}`, "", "no such task"},
		{"without a result", `{"result":{"status":"completed"}}`, "", "without a result"},
		{"without an end", `{"result":{"status":"working","pollIntervalMs":1}}`, "", "did not get on for 300ms"},
	} {
		t.Run(test.name, func(t *testing.T) {
			servers, log := serve(t, `{"era":"modern",`+tools+`,"on":{"tasks/get":[`+test.polled+`]},
				"calls":{"x":[{"result":{"resultType":"task","taskId":"t-1","status":"working","pollIntervalMs":1}}]}}`)
			a := newAnswerer(t, everything, nil)
			a.call(servers, `{}`)
			got := await(t, a.replies)
			if test.problem != "" && (got.err == nil || !strings.Contains(got.err.Error(), test.problem)) {
				t.Errorf("the reply is %v, want %s", got.err, test.problem)
			}
			if test.problem == "" && (got.err != nil || string(got.outcome.Result.Bytes()) != test.want) {
				t.Errorf("the outcome is %s, %v", got.outcome.Result.Bytes(), got.err)
			}
			if text, err := os.ReadFile(log); err != nil || !strings.Contains(string(text), `"method":"tasks/get","params":{"taskId":"t-1","_meta":{"io.`) {
				t.Errorf("the server got %s, %v", text, err)
			}
		})
	}
}

func TestTaskAsks(t *testing.T) {
	servers, log := serve(t, oneLine(`{"era":"modern",`+tools+`,"on":{
		"tasks/get":[{"result":{"status":"input_required","pollIntervalMs":100,"inputRequests":{"k":{"method":"elicitation/create","params":{}}}}}],
		"tasks/update":[{"result":{"resultType":"complete"}}],"tasks/cancel":[{"result":{}}]},
		"calls":{"x":[{"result":{"resultType":"task","taskId":"t-1","pollIntervalMs":1}}]}}`))
	a := newAnswerer(t, everything, func(q *downstream.Question) { q.Answer(respond(`{"action":"decline"}`)) })
	canceller := a.call(servers, `{}`)
	awaitLine(t, log, `"method":"tasks/update","params":{"taskId":"t-1","inputResponses":{"k":{"action":"decline"}},"_meta":`)
	canceller.Cancel(Cancelled{})
	await(t, a.replies)
	awaitLine(t, log, `"method":"tasks/cancel"`)
}

// awaitLine waits until the server has got something.
func awaitLine(t *testing.T, log, part string) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	overdue := time.After(patience)
	for {
		if text, err := os.ReadFile(log); err == nil && strings.Contains(string(text), part) {
			return
		}
		select {
		case <-ticker.C:
		case <-overdue:
			t.Fatalf("the server did not get %s within %s", part, patience)
		}
	}
}

const hop = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}`

func TestModernClients(t *testing.T) {
	modern := fleet.ProfileOptions{Modern: true, Capabilities: []byte(`{"elicitation":{}}`)}
	const asks = `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}}}`
	for _, test := range []struct{ name, spec, meta, want, sent string }{
		{
			name: "same era, untouched", spec: `{"era":"both",` + tools + `,"calls":{"x":[{"result":{ "content":[],"resultType":"complete"}}]}}`,
			meta: `{"a" : 1,` + hop + `}`, want: `{ "content":[],"resultType":"complete"}`, sent: `"_meta":{"a" : 1,` + hop + `},"arguments":{"a":1.0}}}`,
		},
		{
			name: "a question of the same era", spec: `{"era":"modern",` + tools + `,"calls":{"x":[{"result":` + asks + `}]}}`,
			meta: `{` + hop + `}`, want: asks, sent: `"_meta":{` + hop + `},"arguments"`,
		},
		{
			name: "the other era", spec: `{` + tools + `,"calls":{"x":[{"result":{"content":[ ]}}]}}`, meta: `{"a":1,` + hop + `}`,
			want: `{"content":[ ],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fake","version":"1"}}}`,
			sent: `"params":{"name":"x","_meta":{"a":1},"arguments":{"a":1.0}}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			servers, log := serve(t, test.spec)
			a := newAnswerer(t, modern, nil)
			a.call(servers, test.meta)
			got := await(t, a.replies)
			if got.err != nil || string(got.outcome.Result.Bytes()) != test.want {
				t.Errorf("the outcome is %s, %v, want %s", got.outcome.Result.Bytes(), got.err, test.want)
			}
			if text, err := os.ReadFile(log); err != nil || !strings.Contains(string(text), test.sent) {
				t.Errorf("the server got %s, %v, want %s", text, err, test.sent)
			}
		})
	}
}

func TestLogMessagesForModernClients(t *testing.T) {
	message := func(level string) string {
		return `{"send":{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"` + level + `","data":1}}}`
	}
	servers, log := serve(t, `{"capabilities":{"tools":{},"logging":{}},`+tools+`,"on":{"logging/setLevel":[{"result":{}}]},
		"calls":{"x":[`+message("debug")+`,`+message("warning")+`]}}`)
	a := newAnswerer(t, fleet.ProfileOptions{Modern: true}, nil)
	a.call(servers, `{`+hop+`,"io.modelcontextprotocol/logLevel":"info"}`)
	await(t, a.replies)
	if got := await(t, a.notices); !strings.Contains(got, "warning") {
		t.Errorf("the client got %s", got)
	}
	a.call(servers, `{`+hop+`}`)
	await(t, a.replies)
	if len(a.notices) > 0 {
		t.Errorf("the client got %s, which it did not ask for", <-a.notices)
	}
	if text, err := os.ReadFile(log); err != nil || strings.Count(string(text), `"method":"logging/setLevel","params":{"level":"info"}`) != 1 {
		t.Errorf("the server got %s, %v", text, err)
	}
}

func forward(t *testing.T, servers *fleet.Fleet, a *answerer, method, params string) reply {
	t.Helper()
	box, _ := servers.Toolbox("T")
	server, _ := box.Server("S")
	new(Router).Forward(server, &Forwarding{Method: method, Params: wire.Raw([]byte(params)), Client: a, Canceller: new(Canceller), Replier: a})
	return await(t, a.replies)
}

func TestForwardedRequestsAreTranslated(t *testing.T) {
	missing := func(code string) string { return `{"code":` + code + `,"message":"m","data":{"uri":"a:b"}}` }
	const resources = `"capabilities":{"resources":{}}`
	for _, test := range []struct {
		name, spec             string
		modern                 bool
		method, params         string
		result, problem, sends string
	}{
		{
			name: "a result lowered", spec: `{"era":"modern",` + resources + `,"on":{"resources/read":[{"result":{"resultType":"complete","ttlMs":1,"cacheScope":"public","contents":[]}}]}}`,
			method: "resources/read", params: `{"uri":"a:b"}`, result: `{"contents":[]}`, sends: `"params":{"uri":"a:b","_meta":{"io.modelcontextprotocol/protocolVersion"`,
		},
		{
			name: "a result raised", spec: `{` + resources + `,"on":{"resources/list":[{"result":{"resources":[],"_meta":{"a":1}}}]}}`, modern: true,
			method: "resources/list", params: `{"_meta":{` + hop + `}}`, sends: `"method":"resources/list","params":{}}`,
			result: `{"resources":[],"_meta":{"a":1,"io.modelcontextprotocol/serverInfo":{"name":"fake","version":"1"}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}`,
		},
		{
			name: "an error lowered", spec: `{"era":"modern",` + resources + `,"on":{"resources/read":[{"error":` + missing("-32602") + `}]}}`,
			method: "resources/read", params: `{"uri":"a:b"}`, problem: missing("-32002"),
		},
		{
			name: "an error raised", spec: `{` + resources + `,"on":{"resources/read":[{"error":` + missing("-32002") + `}]}}`, modern: true,
			method: "resources/read", params: `{"uri":"a:b","inputResponses":{},"_meta":{` + hop + `}}`, problem: missing("-32602"), sends: `"params":{"uri":"a:b"}}`,
		},
		{
			name: "a state that nobody gave", spec: `{` + resources + `,"on":{"resources/read":[{"result":{"contents":[]}}]}}`, modern: true,
			method: "resources/read", params: `{"uri":"a:b","requestState":"s","_meta":{` + hop + `}}`, problem: string(unknownState.Error.Bytes()),
		},
		{
			name: "a state where there are no rounds", spec: `{` + resources + `,"on":{"resources/list":[{"error":` + missing("-1") + `}]}}`, modern: true,
			method: "resources/list", params: `{"requestState":"s","_meta":{` + hop + `}}`, problem: missing("-1"), sends: `"method":"resources/list","params":{}}`,
		},
		{
			name: "a missing capability is the client's in the same era", spec: `{"era":"modern","on":{"prompts/get":[{"error":{"code":-32021,"message":"m"}}]}}`, modern: true,
			method: "prompts/get", params: `{"name":"n","_meta":{` + hop + `}}`, problem: `{"code":-32021,"message":"m"}`,
		},
		{name: "a level", spec: `{"era":"modern"}`, method: "logging/setLevel", params: `{"level":"info"}`, result: `{}`},
		{
			name: "no level", spec: `{"era":"modern"}`, method: "logging/setLevel", params: `{"level":"loud"}`,
			problem: `{"code":-32602,"message":"Invalid params: 'level' is not a level of log messages"}`,
		},
		{
			name: "updates of a task", spec: `{}`, modern: true, method: protocol.MethodWatchTask, params: `{"taskId":"t"}`,
			problem: `{"code":-32602,"message":"The server does not tell updates of tasks"}`,
		},
		{name: "a ping", spec: `{"era":"modern"}`, method: "ping", params: `{}`, result: `{}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			servers, log := serve(t, test.spec)
			got := forward(t, servers, newAnswerer(t, fleet.ProfileOptions{Modern: test.modern}, nil), test.method, test.params)
			if got.err != nil || string(got.outcome.Result.Bytes()) != test.result || string(got.outcome.Error.Bytes()) != test.problem {
				t.Errorf("the outcome is %s %s, %v", got.outcome.Result.Bytes(), got.outcome.Error.Bytes(), got.err)
			}
			if text, err := os.ReadFile(log); err != nil || !strings.Contains(string(text), test.sends) {
				t.Errorf("the server got %s, %v, want %s", text, err, test.sends)
			}
		})
	}
}

func TestLevelGoesWithTheRequestsOfLegacyClients(t *testing.T) {
	servers, log := serve(t, `{"era":"modern",`+tools+`}`)
	a := newAnswerer(t, fleet.ProfileOptions{}, nil)
	a.profile.SetLogLevel([]byte(`{"level":"notice"}`))
	a.call(servers, `{}`)
	await(t, a.replies)
	if text, err := os.ReadFile(log); err != nil || !strings.Contains(string(text), `"io.modelcontextprotocol/logLevel":"notice"},"arguments"`) {
		t.Errorf("the server got %s, %v", text, err)
	}
}
