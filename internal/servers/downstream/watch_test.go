package downstream

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// heard collects the notifications of a session.
type heard struct{ messages chan string }

func (h heard) notice(message wire.Message, _ Caller, _ bool) {
	h.messages <- string(message.Method) + " " + string(message.Params.Bytes())
}

const modernResources = `{"era":"modern","capabilities":{"tools":{},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true}},
	"calls":{"update":[{"updated":"a:1"},{"updated":"a:2"}]}}`

// about sends a request about a resource and returns its answer.
func about(t *testing.T, session *Session, method, uri string) wire.Message {
	t.Helper()
	in := newInbox()
	if _, err := session.Forward(Forward{Method: method, Params: wire.Raw([]byte(`{"uri":"` + uri + `"}`))}, in); err != nil {
		t.Fatal(err)
	}
	got := <-in.messages
	if got.err != nil {
		t.Fatal(got.err)
	}
	return got.response
}

func TestModernListChangesAreSubscribedTo(t *testing.T) {
	session, log := connect(t, modernResources, Options{Modern: true, OnNotification: func(wire.Message, Caller, bool) {}, ToolsChanged: func() {}})
	mustCall(t, session, ToolCall{Name: "x"})
	want := `"method":"subscriptions/listen","params":{"notifications":{"promptsListChanged":true,"resourcesListChanged":true},`
	if got := strings.Join(log.received(), "\n"); !strings.Contains(got, want) {
		t.Errorf("sent\n%s\nwant %s", got, want)
	}
}

func TestModernUpdatesOfResources(t *testing.T) {
	h := heard{make(chan string, 10)}
	session, log := connect(t, modernResources, Options{Modern: true, OnNotification: h.notice})
	for _, uri := range []string{"a:1", "a:1", "a:2"} {
		if got := about(t, session, "resources/subscribe", uri); string(got.Result.Bytes()) != `{}` {
			t.Fatalf("the answer is %s %s", got.Result.Bytes(), got.Error.Bytes())
		}
	}
	mustCall(t, session, ToolCall{Name: "update"})
	for _, uri := range []string{"a:1", "a:2"} {
		// Nothing is left of the subscription that is ours.
		if got, want := <-h.messages, `notifications/resources/updated {"uri":"`+uri+`"}`; got != want {
			t.Errorf("heard %s, want %s", got, want)
		}
	}
	about(t, session, "resources/unsubscribe", "a:1")
	mustCall(t, session, ToolCall{Name: "update"})
	if got := <-h.messages; !strings.Contains(got, "a:2") || len(h.messages) > 0 {
		t.Errorf("heard %s, want the update of the other one alone", got)
	}
	about(t, session, "resources/subscribe", "a:1") // is still covered
	if got := strings.Count(strings.Join(log.received(), "\n"), "resourceSubscriptions"); got != 2 {
		t.Errorf("%d requests for updates were sent, want 2", got)
	}
}

func TestModernSubscriptionsThatFail(t *testing.T) {
	acknowledged := func(list string) string {
		return `{"send":{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"${id}"},"notifications":{` + list + `}}}},{"answered":true}`
	}
	for _, test := range []struct{ name, listen, params, want string }{
		{"not offered", acknowledged(``), `{"uri":"a:1"}`, `"The server does not tell updates of 'a:1'"`},
		{"refused", `{"error":{"code":-32601,"message":"what?"}}`, `{"uri":"a:1"}`, `"what?"`},
		{"ended at once", `{"result":{}}`, `{"uri":"a:1"}`, `"The server does not tell updates of resources or tasks"`},
		{"no URI", acknowledged(``), `{"uri":7}`, `"Invalid params: 'uri' must be a string, and not empty"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			session, _ := connect(t, `{"era":"modern","on":{"subscriptions/listen":[`+test.listen+`]}}`, Options{Modern: true})
			in := newInbox()
			if _, err := session.Forward(Forward{Method: "resources/subscribe", Params: wire.Raw([]byte(test.params))}, in); err != nil {
				t.Fatal(err)
			}
			if got := <-in.messages; string(got.response.Error.Member("message").Bytes()) != test.want {
				t.Errorf("the answer is %s, %v", got.response.Error.Bytes(), got.err)
			}
		})
	}
}

// What is subscribed to while the server has not acknowledged yet goes into the next request.
func TestModernSubscriptionsAreGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &gatherer{}
		session, err := converse(t, Options{Modern: true}, server.receive)
		if err != nil {
			t.Fatal(err)
		}
		in := newInbox()
		for i := range 20 {
			params := fmt.Sprintf(`{"uri":"a:%d"}`, i)
			if _, err := session.Forward(Forward{Method: "resources/subscribe", Params: wire.Raw([]byte(params))}, in); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 {
			if got := <-in.messages; got.err != nil || got.response.Result.IsAbsent() {
				t.Errorf("the answer is %s, %v", got.response.Error.Bytes(), got.err)
			}
		}
		if server.listens != 2 {
			t.Errorf("%d requests for updates were sent, want 2", server.listens)
		}
	})
}

// gatherer acknowledges subscriptions after a while.
type gatherer struct{ listens int }

func (g *gatherer) receive(line string) string {
	if strings.Contains(line, `"server/discover"`) {
		return discovered
	}
	g.listens++
	<-time.After(time.Second)
	message, err := wire.Parse(wire.NewFrame([]byte(line)))
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":%s}}`,
		message.ID.Bytes(), message.Params.Member("notifications").Bytes())
}

// A server that never acknowledges keeps nobody waiting, and the next one is asked for anew.
func TestModernSubscriptionsThatAreNotAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &gatherer{}
		var cancelled atomic.Int32
		session, err := converse(t, Options{}, func(line string) string {
			switch {
			case strings.Contains(line, "notifications/cancelled"):
				cancelled.Add(1)
				return ""
			case strings.Contains(line, "a:1"):
				return ""
			}
			return server.receive(line)
		})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		in := newInbox()
		for _, uri := range []string{"a:1", "a:2"} { // the second one waits for the first
			if _, err := session.Forward(Forward{Method: "resources/subscribe", Params: wire.Raw([]byte(`{"uri":"` + uri + `"}`))}, in); err != nil {
				t.Fatal(err)
			}
		}
		refused := <-in.messages
		if want := `"The server did not acknowledge the subscription within 10s"`; string(refused.response.Error.Member("message").Bytes()) != want {
			t.Errorf("the answer is %s, %v", refused.response.Error.Bytes(), refused.err)
		}
		if took := time.Since(began); took != acknowledgeTime {
			t.Errorf("it took %v", took)
		}
		if granted := <-in.messages; granted.err != nil || granted.response.Result.IsAbsent() {
			t.Errorf("the next one is answered %s, %v", granted.response.Error.Bytes(), granted.err)
		}
		synctest.Wait()
		if n := cancelled.Load(); n != 1 {
			t.Errorf("%d requests were cancelled", n)
		}
	})
}

// A subscription that the server ends is made again, and what may have been missed is told.
func TestModernUpdatesAreSubscribedToAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &gatherer{}
		h := heard{make(chan string, 10)}
		session, err := converse(t, Options{Modern: true, OnNotification: h.notice}, func(line string) string {
			reply := server.receive(line)
			if server.listens == 1 && strings.Contains(line, "subscriptions/listen") {
				reply += "\n" + `{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete"}}`
			}
			return reply
		})
		if err != nil {
			t.Fatal(err)
		}
		about(t, session, "resources/subscribe", "a:1")
		if got := <-h.messages; got != `notifications/resources/updated {"uri":"a:1"}` {
			t.Errorf("heard %s", got)
		}
		<-time.After(2 * time.Second)
		synctest.Wait()
		if server.listens != 2 {
			t.Errorf("%d requests for updates were sent, want 2", server.listens)
		}
	})
}

func TestModernUpdatesOfTasks(t *testing.T) {
	h := heard{make(chan string, 10)}
	session, log := connect(t, `{"era":"modern","calls":{"go":[{"task":{"taskId":"a:1","status":"completed"}},{"updated":"b:1"},{"updated":"a:1"}]}}`, Options{Modern: true, OnNotification: h.notice})
	for _, topic := range []Topic{{true, "a:1"}, {false, "b:1"}} {
		method, params := topic.Subscribe()
		in := newInbox()
		if _, err := session.Forward(Forward{Method: method, Params: wire.Raw(params)}, in); err != nil {
			t.Fatal(err)
		}
		if got := <-in.messages; got.err != nil || string(got.response.Result.Bytes()) != `{}` {
			t.Fatalf("the answer is %s, %v", got.response.Error.Bytes(), got.err)
		}
	}
	mustCall(t, session, ToolCall{Name: "go"})
	for _, want := range []string{`notifications/tasks {"taskId":"a:1","status":"completed"}`, `notifications/resources/updated {"uri":"b:1"}`} {
		if got := <-h.messages; got != want {
			t.Errorf("heard %s, want %s", got, want)
		}
	}
	all := strings.Join(log.received(), "\n")
	for _, want := range []string{`"notifications":{"taskIds":["a:1"]}`, `"notifications":{"resourceSubscriptions":["b:1"]}`} {
		if strings.Count(all, want) != 1 {
			t.Errorf("sent\n%s\nwant %s once", all, want)
		}
	}
	if strings.Contains(all, "workbench/") {
		t.Errorf("a request that is made within the workbench only was sent:\n%s", all)
	}
}

func TestFilterOf(t *testing.T) {
	for want, topics := range map[string][]Topic{
		``: nil,
		`"resourceSubscriptions":["a","b"],"taskIds":["\"","c"]`: {{true, "\""}, {false, "a"}, {true, "c"}, {false, "b"}},
		`"taskIds":["a"]`: {{true, "a"}},
	} {
		got := string(FilterOf(topics))
		read, problem := TopicsIn(wire.Raw([]byte("{" + got + "}")))
		if problem != "" || len(read) != len(topics) || got != want {
			t.Errorf("%v became %s, and was read as %v %s", topics, got, read, problem)
		}
	}
}
