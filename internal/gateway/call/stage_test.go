package call

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// recorder is an observer that holds on to what it is told.
type recorder struct {
	t     *testing.T
	mu    sync.Mutex
	open  map[*Call]bool
	ended []End
	names []string
}

func newRecorder(t *testing.T) *recorder { return &recorder{t: t, open: make(map[*Call]bool)} }

func (r *recorder) CallBegan(call *Call, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[call] || at.IsZero() {
		r.t.Errorf("%+v began at %v, open before: %t", call, at, r.open[call])
	}
	r.open[call] = true
}

func (r *recorder) CallEnded(call *Call, end End) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.open[call] {
		r.t.Errorf("%+v ended, but was not open", call)
	}
	delete(r.open, call)
	r.ended = append(r.ended, end)
	r.names = append(r.names, strings.Join([]string{call.Server.Toolbox(), call.Server.Name(), call.Method, call.Name}, " "))
}

// only returns the one request that was observed from its begin to its end.
func (r *recorder) only() (end End, name string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ended) != 1 || len(r.open) != 0 {
		r.t.Fatalf("observed were %v, open are %d, want one that ended", r.names, len(r.open))
	}
	return r.ended[0], r.names[0]
}

// admitter is an admit stage that is one function.
type admitter func(call *Call) Verdict

func (a admitter) Admit(call *Call) Verdict { return a(call) }

func (c *caller) callTool(router *Router, servers *fleet.Fleet, name string) *Canceller {
	canceller := new(Canceller)
	router.CallTool(servers, &Request{
		Ref: toolbox.Ref{Toolbox: "T", Server: "S", Name: name}, Arguments: wire.Raw([]byte(`{"a":1}`)), Meta: wire.Raw([]byte(`{"m":1}`)),
		Client: c, Canceller: canceller, Replier: c,
	})
	return canceller
}

func readAll(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEveryRequestIsObservedOnce(t *testing.T) {
	ask := func(q *downstream.Question) { q.Answer(respond(`{"action":"accept"}`)) }
	for _, test := range []struct {
		name, spec string
		tool       string // default: x
		modern     bool   // the client
		ask        func(*downstream.Question)
		want       Status
		kind       string // of the error
		answered   bool   // by the server, in spite of a timeout
		response   int
	}{
		{name: "a result", spec: `{` + tools + `,"calls":{"x":[{"result":{"content":[]}}]}}`, want: StatusOK, response: 14},
		{name: "no error", spec: `{` + tools + `,"calls":{"x":[{"result":{"isError":false}}]}}`, want: StatusOK, response: 17},
		{name: "an error of the tool", spec: `{` + tools + `,"calls":{"x":[{"result":{"content":[],"isError":true}}]}}`, want: StatusToolError, kind: "tool_error", response: 29},
		{name: "an error", spec: `{` + tools + `,"calls":{"x":[{"error":{"code":-1,"message":"m"}}]}}`, want: StatusRPCError, kind: "-1"},
		{name: "an error for the client", spec: `{` + tools + `,"calls":{"x":[{"error":{"code":-32042,"message":"m"}}]}}`, want: StatusRPCError, kind: "-32042", response: 29},
		{name: "an unknown tool", spec: `{` + tools + `}`, tool: "z", want: StatusRefused, kind: "not_found"},
		{name: "no object", spec: `{` + tools + `,"calls":{"x":[{"result":[]}]}}`, want: StatusFailed, kind: "failed"},
		{name: "silence", spec: `{` + tools + `,"calls":{"x":[{"wait":"forever"}]}}`, want: StatusFailed, kind: "timeout"},
		{name: "a crash", spec: `{` + tools + `,"calls":{"x":[{"exit":5}]}}`, want: StatusFailed, kind: "server_ended"},
		{name: "no start", spec: `{"on":{"initialize":[{"exit":5}]}}`, want: StatusFailed, kind: "start_failed"},
		{name: "rounds of questions", spec: oneLine(twoRounds), ask: ask, want: StatusOK, response: 15},
		{
			name: "a question for a modern client", modern: true, want: StatusInputRequired, response: 85,
			spec: `{"era":"modern",` + tools + `,"calls":{"x":[{"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}}}}]}}`,
		},
		{
			name: "a task", want: StatusOK, response: 14,
			spec: `{"era":"modern",` + tools + `,"on":{"tasks/get":[{"result":{"status":"completed","result":{"content":[]}}}]},
				"calls":{"x":[{"result":{"resultType":"task","taskId":"t-1","status":"working","pollIntervalMs":1}}]}}`,
		},
		{
			name: "a task that does not get on", want: StatusFailed, kind: "timeout", answered: true,
			spec: `{"era":"modern",` + tools + `,"on":{"tasks/get":[{"result":{"status":"working"}}]},
				"calls":{"x":[{"result":{"resultType":"task","taskId":"t-1","status":"working","pollIntervalMs":1}}]}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			servers, _ := serve(t, test.spec)
			seen := newRecorder(t)
			options := everything
			options.Modern = test.modern
			a := newAnswerer(t, options, test.ask)
			tool := test.tool
			if tool == "" {
				tool = "x"
			}
			NewRouter(Stages{Observe: []Observer{seen}}).CallTool(servers, &Request{
				Ref: toolbox.Ref{Toolbox: "T", Server: "S", Name: tool}, Arguments: wire.Raw([]byte(`{"a":1}`)), Meta: wire.Raw([]byte(`{` + hop + `}`)),
				Client: a, Canceller: new(Canceller), Replier: a,
			})
			await(t, a.replies)
			end, name := seen.only()
			if end.Status != test.want || end.RequestSize != 7 || end.ResponseSize != test.response || end.Began.IsZero() || end.Took <= 0 {
				t.Errorf("it ended with %+v (%s), want %s", end, end.Status, test.want)
			}
			if end.ErrorType != test.kind {
				t.Errorf("the type of the error is %q, want %q", end.ErrorType, test.kind)
			}
			wasSent := test.kind != "not_found" && test.kind != "start_failed"
			wasAnswered := test.answered || wasSent && test.kind != "timeout" && test.kind != "server_ended"
			if end.Sent.IsZero() == wasSent || end.Answered.IsZero() == wasAnswered || (end.Server > 0) != wasSent || end.Start <= 0 || end.Workbench() <= 0 {
				t.Errorf("the times are %+v", end)
			}
			if (end.Waited > 0) != (test.name == "rounds of questions") {
				t.Errorf("it waited %s for a person", end.Waited)
			}
			if want := "T S tools/call " + tool; name != want {
				t.Errorf("observed was %s, want %s", name, want)
			}
		})
	}
}

func TestCancelledRequestsAreObservedOnce(t *testing.T) {
	servers, log := serve(t, `{`+tools+`,"calls":{"x":[{"wait":"cancelled"}]}}`)
	for _, isSent := range []bool{false, true} {
		seen, c := newRecorder(t), newCaller()
		canceller := c.callTool(NewRouter(Stages{Observe: []Observer{seen}}), servers, "x")
		if isSent {
			awaitLine(t, log, `"tools/call"`)
		}
		canceller.Cancel(Cancelled{})
		await(t, c.replies)
		if end, _ := seen.only(); end.Status != StatusCancelled || end.ErrorType != "cancelled" || end.ResponseSize != 0 || end.Sent.IsZero() == isSent || !end.Answered.IsZero() {
			t.Errorf("sent: %t, it ended with %+v", isSent, end)
		}
	}
}

func TestOtherMethodsPassTheStages(t *testing.T) {
	servers, _ := serve(t, `{"capabilities":{"resources":{}},"on":{"resources/read":[{"result":{"contents":[]}}]}}`)
	box, _ := servers.Toolbox("T")
	server, _ := box.Server("S")
	seen, a := newRecorder(t), newAnswerer(t, fleet.ProfileOptions{}, nil)
	var refusal *Failure
	router := NewRouter(Stages{Observe: []Observer{seen}, Admit: []Admitter{admitter(func(call *Call) Verdict {
		if call.Method != "resources/read" || call.Name != "a:b" || string(call.Arguments.Bytes()) != `{"uri":"a:b"}` || call.Client != a {
			t.Errorf("asked for %+v", call)
		}
		return Verdict{Refusal: refusal}
	})}})
	read := func() reply {
		router.Forward(server, &Forwarding{Method: "resources/read", Params: wire.Raw([]byte(`{"uri":"a:b"}`)), Name: "a:b", Client: a, Canceller: new(Canceller), Replier: a})
		return await(t, a.replies)
	}
	if got := read(); got.err != nil {
		t.Errorf("the reply is %v", got.err)
	}
	if end, name := seen.only(); end.Status != StatusOK || name != "T S resources/read a:b" || end.RequestSize != 13 || end.ResponseSize != 15 {
		t.Errorf("observed was %s: %+v", name, end)
	}
	refusal = &Failure{Message: "not today"}
	seen.ended = nil
	if got := read(); !errors.Is(got.err, refusal) {
		t.Errorf("the reply is %+v", got)
	}
	if end, _ := seen.only(); end.Status != StatusRefused {
		t.Errorf("it ended with %+v", end)
	}
}

func TestStageSeesTheCallAndRefuses(t *testing.T) {
	servers, log := serve(t, `{`+tools+`}`)
	refusal := &Failure{Message: "policy", Hint: "ask somebody"}
	seen, c := newRecorder(t), newCaller()
	c.callTool(NewRouter(Stages{Observe: []Observer{seen}, Admit: []Admitter{
		admitter(func(call *Call) Verdict {
			if call.Server.Name() != "S" || call.Name != "x" || string(call.Arguments.Bytes()) != `{"a":1}` || string(call.Meta.Bytes()) != `{"m":1}` ||
				!strings.Contains(string(call.Tool.Bytes()), `"required":["p"]`) || call.Client != c {
				t.Errorf("asked for %+v", call)
			}
			return Verdict{}
		}),
		admitter(func(*Call) Verdict { return Verdict{Refusal: refusal} }),
		admitter(func(*Call) Verdict { t.Error("asked after a refusal"); return Verdict{} }),
	}}), servers, "x")
	if got := await(t, c.replies); !errors.Is(got.err, refusal) {
		t.Errorf("the reply is %+v", got)
	}
	if end, _ := seen.only(); end.Status != StatusRefused || end.ErrorType != "denied" || !end.Sent.IsZero() {
		t.Errorf("it ended with %+v", end)
	}
	c.callTool(new(Router), servers, "y")
	await(t, c.replies)
	if text := readAll(t, log); strings.Contains(text, `"name":"x"`) {
		t.Errorf("the server got %s", text)
	}
}

// asking is an admit stage that waits for an answer to a question.
type asking struct {
	asked   chan *Call
	answers chan *Failure
}

func newAsking() *asking { return &asking{make(chan *Call, 10), make(chan *Failure, 10)} }

func (a *asking) Admit(call *Call) Verdict {
	return Verdict{Wait: func(ctx context.Context) *Failure {
		a.asked <- call
		select {
		case answer := <-a.answers:
			return answer
		case <-ctx.Done():
			return &Failure{Message: "nobody answered"}
		}
	}}
}

func TestStagesWaitForAPerson(t *testing.T) {
	servers, _ := serve(t, `{`+tools+`,"calls":{"x":[{"result":{"content":[]}}]}}`)
	warm := newCaller()
	warm.callTool(new(Router), servers, "y") // so that no goroutine but that of the caller sends the next ones
	await(t, warm.replies)
	first, second := newAsking(), newAsking()
	refusal := &Failure{Message: "no"}
	for _, test := range []struct {
		name    string
		answers [2]*Failure
		cancel  bool
		want    Status
	}{
		{name: "both admit", want: StatusOK},
		{name: "the first refuses", answers: [2]*Failure{refusal}, want: StatusRefused},
		{name: "the second refuses", answers: [2]*Failure{1: refusal}, want: StatusRefused},
		{name: "cancelled meanwhile", cancel: true, want: StatusCancelled},
	} {
		t.Run(test.name, func(t *testing.T) {
			seen, c := newRecorder(t), newCaller()
			router := NewRouter(Stages{Observe: []Observer{seen}, Admit: []Admitter{first, second}})
			canceller := c.callTool(router, servers, "x") // returns, although nobody has answered
			if call := await(t, first.asked); string(call.Arguments.Bytes()) != `{"a":1}` {
				t.Errorf("the person is asked about %+v", call)
			}
			if test.cancel {
				canceller.Cancel(Cancelled{})
			} else {
				first.answers <- test.answers[0]
				if test.answers[0] == nil {
					await(t, second.asked)
					second.answers <- test.answers[1]
				}
			}
			got := await(t, c.replies)
			if end, _ := seen.only(); end.Waited <= 0 || end.Start != 0 || end.Status != test.want || (test.want == StatusRefused) != errors.Is(got.err, refusal) {
				t.Errorf("it ended with %s, %v, want %s", end.Status, got.err, test.want)
			}
		})
	}
}

// writing is an admit stage that writes something before the request is sent.
type writing struct{ took *time.Duration }

func (w writing) Admit(*Call) Verdict {
	return Verdict{IsOwnWork: true, Wait: func(context.Context) *Failure {
		began := time.Now()
		for *w.took < time.Millisecond { // it is busy, as a disk is
			*w.took = time.Since(began)
		}
		return nil
	}}
}

// The time of a stage that works is the workbench's, not a person's.
func TestOwnWorkIsNotAPerson(t *testing.T) {
	servers, _ := serve(t, `{`+tools+`,"calls":{"x":[{"result":{"content":[]}}]}}`)
	warm := newCaller()
	warm.callTool(new(Router), servers, "y")
	await(t, warm.replies)
	var took time.Duration
	seen, c := newRecorder(t), newCaller()
	c.callTool(NewRouter(Stages{Observe: []Observer{seen}, Admit: []Admitter{writing{&took}}}), servers, "x")
	await(t, c.replies)
	if end, _ := seen.only(); end.Status != StatusOK || end.Waited != 0 || end.Workbench() < took {
		t.Errorf("it ended with %s, waited %s for a person, and took %s in the workbench", end.Status, end.Waited, end.Workbench())
	}
}

func TestServerEndsWhileAPersonIsAsked(t *testing.T) {
	servers, log := serve(t, `{`+tools+`,"calls":{"x":[{"starts":2,"result":{"content":[]}}],"y":[{"exit":3}]}}`)
	seen, stage, c := newRecorder(t), newAsking(), newCaller()
	c.callTool(NewRouter(Stages{Observe: []Observer{seen}, Admit: []Admitter{stage}}), servers, "x")
	await(t, stage.asked)
	killer := newCaller()
	killer.callTool(new(Router), servers, "y")
	await(t, killer.replies)
	stage.answers <- nil
	if got := await(t, c.replies); got.err != nil {
		t.Errorf("the reply is %v, want the result of the server that was started again", got.err)
	}
	if end, _ := seen.only(); end.Status != StatusOK || len(stage.asked) != 0 {
		t.Errorf("it ended with %s, and the person was asked %d times more", end.Status, len(stage.asked))
	}
	if text := readAll(t, log); strings.Count(text, `"name":"x","_meta":{"m":1},"arguments":{"a":1}`) != 1 {
		t.Errorf("the server got %s", text)
	}
}

func TestWaitIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCaller()
		r := &run{router: new(Router), canceller: new(Canceller), replier: c}
		began := time.Now()
		if r.isAdmittedBy(Verdict{Wait: func(ctx context.Context) *Failure { <-ctx.Done(); return nil }}) {
			t.Error("admitted by a stage that did not decide")
		}
		failure, ok := errors.AsType[*Failure](await(t, c.replies).err)
		if !ok || failure.Message != "nobody decided within 10m0s whether it may be sent: timeout" || time.Since(began) != MaxAdmission || r.status != StatusRefused {
			t.Errorf("after %s it ended with %+v", time.Since(began), failure)
		}
	})
}

func TestMembersOfResults(t *testing.T) {
	long := `"` + strings.Repeat("x", 2*maxTail) + `"`
	for _, test := range []struct {
		name, object string
		want         bool
	}{
		{"alone", `{"isError":true}`, true},
		{"spaces", `{ "isError" : true }`, true},
		{"first", `{"isError":true,"content":[` + long + `]}`, true},
		{"after a short one", `{"_meta":{"a":["}",{"b":"\\\"]"}]}, "isError":true,"content":[` + long + `]}`, true},
		{"in a member where it begins", `{"a":{"isError":true},"content":[` + long + `]}`, false},
		{"in a list where it begins", `{"a":[{"isError":true}],"content":[` + long + `]}`, false},
		{"in a text where it begins", `{"a":"{\"isError\":true}","content":[` + long + `]}`, false},
		{"in a text as it is where it begins", `{"a":"\\\"","b":"\"isError\":true,","content":[` + long + `]}`, false},
		{"false where it begins", `{"a":1,"isError":false,"content":[` + long + `]}`, false},
		{"between long ones", `{"a":` + long + `,"isError":true,"content":[` + long + `]}`, false},
		{"last", `{"content":[` + long + `],"isError":true}`, true},
		{"before others", `{"content":[` + long + `],"isError":true,"_meta":{"a":["}",{"b":"\\\"]"}]}}`, true},
		{"false", `{"content":[],"isError":false}`, false},
		{"absent", `{"content":[]}`, false},
		{"in a member", `{"structuredContent":{"isError":true}}`, false},
		{"in a member before others", `{"structuredContent":{"isError":true},"a":1}`, false},
		{"in a list", `{"a":[{"isError":true}]}`, false},
		{"in a text", `{"a":"{\"isError\":true}"}`, false},
		{"as a value", `{"a":"isError","b":true}`, false},
		{"in a member and at the end", `{"a":{"isError":false},"isError":true}`, true},
		{"empty", `{}`, false},
	} {
		if got := hasMember([]byte(test.object), isErrorKey, "true"); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}

func BenchmarkStatusOfResult(b *testing.B) {
	for _, size := range []int{10, 64 << 10, 1 << 20} {
		result := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat(`\"a\n `, size/5) + `"}],"isError":false}`)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			r := &run{call: Call{Method: "tools/call", Client: newCaller()}}
			for b.Loop() {
				r.statusOfResult(result)
			}
		})
	}
}
