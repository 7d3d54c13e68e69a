package front

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// answers is a reply path that keeps what it gets.
type answers struct{ notices, sent []string }

func (a *answers) notify(message outgoing) error {
	a.notices = append(a.notices, string(message.encode()))
	return nil
}

func (a *answers) tryNotify(message outgoing) bool { return a.notify(message) == nil }

func (a *answers) respond(r response) { a.sent = append(a.sent, string(r.encode())) }

// declaring is the meta of a client with these capabilities.
func declaring(capabilities string) requestMeta {
	return readMeta(wire.Raw([]byte(`{"` + protocol.MetaProtocolVersion + `":"2026-07-28","` + protocol.MetaClientCapabilities + `":` + capabilities + `}`)))
}

// suspendBench is for requests that wait.
type suspendBench struct {
	t                *testing.T
	statelessClients *statelessClients
}

func newSuspendBench(t *testing.T) *suspendBench {
	b := &suspendBench{t, newStatelessClients(newServer(Options{}), 10)}
	t.Cleanup(func() { b.statelessClients.finish(nil, answerTime) })
	return b
}

// request makes a request in flight, without what it asks for.
func (b *suspendBench) request(owner, params string) (*request, *answers, wire.Message) {
	b.t.Helper()
	message, err := wire.Parse(wire.NewFrame([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`)))
	if err != nil {
		b.t.Fatal(err)
	}
	client := b.statelessClients.enter(sender{person: owner, account: account(owner), audience: Audience{}}, declaring(`{"roots":{},"elicitation":{}}`))
	to := new(answers)
	r := client.newRequest(to, fmt.Sprint(lastRequestKey.Add(1)), requestMeta{})
	r.method, r.reply.id = protocol.MethodToolsCall, []byte("1")
	if _, ok := client.requests.add(r.reply.key, r); !ok {
		b.t.Fatal("the request was not accepted")
	}
	return r, to, message
}

// start makes a request that never ends by itself.
func (b *suspendBench) start(owner, params string) (*request, *answers) {
	r, to, message := b.request(owner, params)
	if r.session.stateless.prepare(r, &message) {
		b.t.Fatal("the request was answered")
	}
	return r, to
}

// retry sends a request again.
func (b *suspendBench) retry(owner, params string) *answers {
	r, to, message := b.request(owner, params)
	r.resume(&message)
	return to
}

// asked is a question with what became of it.
type askedQuestion struct {
	*downstream.Question
	got []string
}

func newAsked(method, params string) *askedQuestion {
	a := new(askedQuestion)
	var raw wire.Payload
	if params != "" {
		raw = wire.Raw([]byte(params))
	}
	a.Question = downstream.NewQuestion(method, raw, func(response wire.Message, unsupported bool) {
		a.got = append(a.got, fmt.Sprintf("%s%s %v", response.Result.Bytes(), response.Error.Bytes(), unsupported))
	})
	return a
}

// stateOf returns the raw state in an answer.
func stateOf(t *testing.T, answer string) string {
	t.Helper()
	message, err := wire.Parse(wire.NewFrame([]byte(answer)))
	if err != nil {
		t.Fatal(err)
	}
	return string(message.Result.Member(protocol.RequestState).Bytes())
}

func (a *answers) only(t *testing.T) string {
	t.Helper()
	if len(a.sent) != 1 {
		t.Fatalf("there are %d answers, want one: %q", len(a.sent), a.sent)
	}
	return a.sent[0]
}

func TestQuestionsAreAskedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSuspendBench(t)
		w, to := b.start("me", `{"name":"t","arguments":{"a":1}}`)
		roots, form := newAsked("roots/list", ""), newAsked("elicitation/create", `{"message":"m","_meta":{"progressToken":7}}`)
		w.Ask(roots.Question)
		<-time.After(settleTime / 2) // of the bubble
		w.Ask(form.Question)
		<-time.After(settleTime / 2) // of the bubble
		synctest.Wait()
		first := to.only(t)
		if want := `"inputRequests":{"question-1":{"method":"roots/list","params":{}},"question-2":{"method":"elicitation/create","params":{"message":"m","_meta":{}}}}`; !strings.Contains(first, want) {
			t.Errorf("the answer is %s, want it to hold %s", first, want)
		}

		next := b.retry("me", `{"requestState":`+stateOf(t, first)+`,"inputResponses":{"question-2":{"action":"decline"},"more":{}},"arguments":{"a" : 1},"name":"t"}`)
		if want := `{"action":"decline"} false`; len(form.got) != 1 || form.got[0] != want {
			t.Errorf("the server got %q, want %s", form.got, want)
		}
		<-time.After(settleTime) // of the bubble
		synctest.Wait()
		second := next.only(t)
		if !strings.Contains(second, `"inputRequests":{"question-1":{"method":"roots/list","params":{}}}`) {
			t.Errorf("the answer is %s, want the open question again", second)
		}

		last := b.retry("me", `{"name":"t","arguments":{"a":1},"requestState":`+stateOf(t, second)+`,"inputResponses":{"question-1":{"roots":[]}}}`)
		w.Answer(metatool.Answer{Text: []byte(`{"content":[]}`)})
		if got := last.only(t); !strings.Contains(got, `"resultType":"complete"`) || len(roots.got) != 1 {
			t.Errorf("the answer is %s, and the server got %q", got, roots.got)
		}
	})
}

func TestStateIsForOneCallOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSuspendBench(t)
		w, to := b.start("me", `{"name":"t","arguments":{"a":1}}`)
		w.Ask(newAsked("roots/list", "").Question)
		<-time.After(settleTime) // of the bubble
		synctest.Wait()
		state := stateOf(t, to.only(t))
		flipped := []byte(state)
		flipped[len(flipped)-3] ^= 1
		for name, test := range map[string]struct{ owner, params string }{
			"another caller":     {"you", `{"name":"t","arguments":{"a":1},"requestState":` + state + `}`},
			"other arguments":    {"me", `{"name":"t","arguments":{"a":2},"requestState":` + state + `}`},
			"another tool":       {"me", `{"name":"u","arguments":{"a":1},"requestState":` + state + `}`},
			"a changed state":    {"me", `{"name":"t","arguments":{"a":1},"requestState":` + string(flipped) + `}`},
			"answers as a list":  {"me", `{"name":"t","arguments":{"a":1},"inputResponses":[],"requestState":` + state + `}`},
			"an answer as a nul": {"me", `{"name":"t","arguments":{"a":1},"inputResponses":{"question-1":null},"requestState":` + state + `}`},
		} {
			if got := b.retry(test.owner, test.params).only(t); !strings.Contains(got, `"code":-32602`) {
				t.Errorf("%s: the answer is %s, want -32602", name, got)
			}
		}
		again := b.retry("me", `{"name":"t","arguments":{"a":1},"requestState":`+state+`}`)
		if len(again.sent) != 0 {
			t.Errorf("the right request was answered with %s", again.sent)
		}
		if got := b.retry("me", `{"name":"t","arguments":{"a":1},"requestState":`+state+`}`).only(t); !strings.Contains(got, `"code":-32602`) {
			t.Errorf("a state that was used is answered with %s", got)
		}
		w.Answer(metatool.Answer{Text: []byte(`{}`)})
	})
}

func TestCallThatWaitsTooLongIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSuspendBench(t)
		w, to := b.start("me", `{"name":"t"}`)
		question := newAsked("roots/list", "")
		w.Ask(question.Question)
		<-time.After(settleTime) // of the bubble
		synctest.Wait()
		state := stateOf(t, to.only(t))
		<-time.After(suspendTime) // of the bubble
		synctest.Wait()
		if !errors.Is(w.canceller.Cause(), errUnanswered) || len(question.got) != 1 {
			t.Errorf("the call was cancelled with %v, and the server got %q", w.canceller.Cause(), question.got)
		}
		if got := b.retry("me", `{"name":"t","requestState":`+state+`}`).only(t); !strings.Contains(got, `"code":-32602`) {
			t.Errorf("the answer is %s, want -32602", got)
		}
		w.Answer(metatool.Answer{Cancelled: errUnanswered})
	})
}

func TestAnswerOfACallThatWaitsIsKept(t *testing.T) {
	for name, test := range map[string]struct{ answer, want string }{
		"short": {`{"content":[]}`, `"result":{"content":[],"resultType":"complete"`},
		"long":  {`{"content":"` + strings.Repeat("x", maxKept) + `"}`, `"code":-32603`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newSuspendBench(t)
				w, to := b.start("me", `{"name":"t"}`)
				question := newAsked("roots/list", "")
				w.Ask(question.Question)
				<-time.After(settleTime) // of the bubble
				synctest.Wait()
				w.Answer(metatool.Answer{Text: []byte(test.answer)})
				if len(question.got) != 1 {
					t.Errorf("the server got %q, want that nobody will answer", question.got)
				}
				if got := b.retry("me", `{"name":"t","requestState":`+stateOf(t, to.only(t))+`}`).only(t); !strings.Contains(got, test.want) {
					t.Errorf("the answer is %.300s, want %s", got, test.want)
				}
			})
		})
	}
}

func TestCallsThatWaitAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSuspendBench(t)
		for range maxSuspendedOfOne {
			w, _ := b.start("me", `{"name":"t"}`)
			w.Ask(newAsked("roots/list", "").Question)
			defer w.Answer(metatool.Answer{Cancelled: errGivenUp})
		}
		<-time.After(settleTime) // of the bubble
		synctest.Wait()
		for owner, asked := range map[string]int{"me": 0, "you": 1} {
			w, to := b.start(owner, `{"name":"t"}`)
			question := newAsked("roots/list", "")
			w.Ask(question.Question)
			<-time.After(settleTime) // of the bubble
			synctest.Wait()
			if len(to.sent) != asked || len(question.got) == asked {
				t.Errorf("%s: the answers are %q, and the server got %q", owner, to.sent, question.got)
			}
			w.Answer(metatool.Answer{Cancelled: errGivenUp})
		}
	})
}

func TestQuestionsThatAreNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSuspendBench(t)
		w, to := b.start("me", `{"name":"t"}`)
		for _, method := range []string{"sampling/createMessage", "tasks/get", "something/else"} {
			question := newAsked(method, "{}")
			w.Ask(question.Question)
			if len(question.got) != 1 || !strings.HasSuffix(question.got[0], "true") {
				t.Errorf("%s: the server got %q, want that the client cannot be asked", method, question.got)
			}
		}
		w.Ask(newAsked("roots/list", "").Question)
		w.suspension.withdraw("question-1")
		<-time.After(2 * settleTime) // of the bubble
		synctest.Wait()
		if len(to.sent) != 0 {
			t.Errorf("a question that was withdrawn was asked: %q", to.sent)
		}
		w.Answer(metatool.Answer{Text: []byte("{}")})
	})
}

func TestCancelledRequestEndsItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSuspendBench(t)
		w, to := b.start("me", `{"name":"t"}`)
		question := newAsked("roots/list", "")
		w.Ask(question.Question)
		w.cancel(call.Cancelled{})
		if w.canceller.Cause() == nil || len(question.got) != 1 {
			t.Errorf("the call was cancelled with %v, and the server got %q", w.canceller.Cause(), question.got)
		}
		w.Answer(metatool.Answer{Cancelled: w.canceller.Cause()})
		if len(to.sent) != 1 || to.sent[0] != "" {
			t.Errorf("the answers are %q, want none", to.sent)
		}
		w.cancel(errors.New("again"))
	})
}

// A client that has a call waiting for its answers is not dropped as idle.
func TestClientOfACallThatWaitsIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSuspendBench(t)
		w, to := b.start("me", `{"name":"t"}`)
		w.Ask(newAsked("roots/list", "").Question)
		<-time.After(suspendTime / 2) // of the bubble
		b.statelessClients.sweep(time.Minute, anybody)
		if len(b.statelessClients.all()) != 1 {
			t.Error("the client was dropped")
		}
		w.Answer(metatool.Answer{Text: []byte(`{}`)})
		b.retry("me", `{"name":"t","requestState":`+stateOf(t, to.only(t))+`}`).only(t)
		<-time.After(2 * time.Minute) // of the bubble
		b.statelessClients.sweep(time.Minute, anybody)
		if len(b.statelessClients.all()) != 0 {
			t.Error("the client is still there after its call")
		}
	})
}

func TestNothingFollowsAResponse(t *testing.T) {
	b := newSuspendBench(t)
	w, to := b.start("me", `{"name":"t"}`)
	_ = w.Notify("before", nil)
	w.Answer(metatool.Answer{Text: []byte(`{}`)})
	_ = w.Notify("after", nil)
	if len(to.notices) != 1 || !strings.Contains(to.notices[0], "before") {
		t.Errorf("the client got %q, want what came before the response", to.notices)
	}
}

func TestStatelessClientIsNotAskedWithoutARequest(t *testing.T) {
	b := newSuspendBench(t)
	w, to := b.start("me", `{"name":"t"}`)
	question := newAsked("roots/list", "")
	w.session.Ask(question.Question)
	if len(question.got) != 1 || !strings.HasSuffix(question.got[0], "true") {
		t.Errorf("the server got %q, want that the client cannot be asked", question.got)
	}
	w.Answer(metatool.Answer{Text: []byte(`{}`)})
	to.only(t)
}

// A cancellation of the request that continues a suspended one reaches it.
func TestCancelledRequestEndsTheCallThatItContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSuspendBench(t)
		w, to := b.start("me", `{"name":"t"}`)
		w.Ask(newAsked("roots/list", "").Question)
		<-time.After(settleTime) // of the bubble
		synctest.Wait()
		first, _, _ := b.request("me", `{"name":"t"}`)
		first.session.requests.cancel(first.reply.key, call.Cancelled{}) // has nothing to do with it
		first.respond(metatool.Answer{Text: []byte("{}")})
		if w.canceller.Cause() != nil {
			t.Error("another request cancelled the call")
		}
		next, nextTo, message := b.request("me", `{"name":"t","requestState":`+stateOf(t, to.only(t))+`}`)
		next.resume(&message)
		next.session.requests.cancel(next.reply.key, call.Cancelled{})
		if w.canceller.Cause() == nil {
			t.Error("the call was not cancelled")
		}
		w.Answer(metatool.Answer{Cancelled: w.canceller.Cause()})
		if got := nextTo.only(t); got != "" {
			t.Errorf("the answer is %s, want none", got)
		}
	})
}

func FuzzState(f *testing.F) {
	p := newSuspendedCalls()
	f.Add(p.sign(stateNumber{}, time.Unix(1<<40, 0), 0))
	f.Add(p.prefix + "AAAA")
	f.Fuzz(func(t *testing.T, state string) {
		if w, ok := p.claim(state, bind("me", "m", wire.Payload{})); ok || w != nil {
			t.Error("a request was found that nobody suspended")
		}
	})
}
