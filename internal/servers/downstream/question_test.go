package downstream

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// asker is a request of one client.
type asker struct {
	*inbox
	profile   string
	questions chan *Question
	notices   chan wire.Message
}

func newAsker(profile string) *asker {
	return &asker{newInbox(), profile, make(chan *Question, 10), make(chan wire.Message, 10)}
}

func (a *asker) Caller() Caller              { return a }
func (a *asker) Profile() any                { return a.profile }
func (a *asker) Ask(question *Question)      { a.questions <- question }
func (a *asker) Notice(message wire.Message) { a.notices <- message }

// hearing are the options of a session whose questions go to their caller.
func hearing(lost chan<- bool) Options {
	return Options{
		OnQuestion: func(question *Question, caller Caller, several bool) {
			if caller == nil {
				lost <- several
				question.RefuseUnsupported()
				return
			}
			caller.Ask(question)
		},
		OnNotification: func(message wire.Message, caller Caller, several bool) {
			if caller == nil {
				lost <- several
				return
			}
			caller.Notice(message)
		},
	}
}

// askingServer answers a call of "ask" with a question, and the answer to that with the
// answer to the call.
func askingServer(sent chan<- string) func(line string) string {
	return func(line string) string {
		switch {
		case strings.Contains(line, `"initialize"`):
			return `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"},"instructions":"use it well"}}`
		case strings.Contains(line, `"name":"ask"`):
			return `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"how?"}}`
		case strings.Contains(line, `"id":"q"`):
			sent <- line
			return `{"jsonrpc":"2.0","id":2,"result":{}}`
		case strings.Contains(line, `"name":"withdraw"`):
			return `{"jsonrpc":"2.0","id":7,"method":"roots/list"}` + "\n" +
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"never mind"}}`
		case strings.Contains(line, `"name":"log"`):
			return `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`
		}
		return ""
	}
}

func TestQuestionReachesTheOneWhoCalled(t *testing.T) {
	sent := make(chan string, 1)
	session := raw(t, hearing(nil), askingServer(sent))
	if session.Instructions() != "use it well" || session.Capabilities().Member("tools").IsAbsent() {
		t.Errorf("the server said %q and offers %s", session.Instructions(), session.Capabilities().Bytes())
	}
	caller := newAsker("p")
	if _, err := session.CallTool(ToolCall{Name: "ask"}, caller); err != nil {
		t.Fatal(err)
	}
	question := <-caller.questions
	if question.Method != "elicitation/create" || string(question.Params.Bytes()) != `{"message":"how?"}` {
		t.Errorf("the question is %s %s", question.Method, question.Params.Bytes())
	}
	question.Answer(mustParse(t, `{"jsonrpc":"2.0","id":77,"result":{"action" : "accept"}}`))
	question.Answer(mustParse(t, `{"jsonrpc":"2.0","id":77,"result":{"action":"twice"}}`))
	if got := strings.TrimSpace(<-sent); got != `{"jsonrpc":"2.0","id":"q","result":{"action" : "accept"}}` {
		t.Errorf("the server got %s", got)
	}
	<-caller.messages // the answer to the call
	select {
	case got := <-sent:
		t.Errorf("the server got a second answer, %s", got)
	default:
	}
}

func TestQuestionsThatNobodyIsKnownFor(t *testing.T) {
	for _, test := range []struct {
		name    string
		clients []string
		lost    bool // it reaches nobody
		several bool
	}{
		{"one profile with two calls", []string{"p", "p"}, false, false},
		{"two clients", []string{"p", "q"}, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			lost, sent := make(chan bool, 1), make(chan string, 1)
			session := raw(t, hearing(lost), askingServer(sent))
			var last *asker
			for i, profile := range test.clients {
				last = newAsker(profile)
				name := "wait"
				if i == len(test.clients)-1 {
					name = "ask"
				}
				if _, err := session.CallTool(ToolCall{Name: name}, last); err != nil {
					t.Fatal(err)
				}
			}
			if !test.lost {
				(<-last.questions).RefuseUnsupported()
			} else if several := <-lost; several != test.several {
				t.Errorf("several is %v", several)
			}
			if got := <-sent; !strings.Contains(got, `"id":"q","error":{"code":-32601`) {
				t.Errorf("the server got %s", got)
			}
		})
	}
}

func TestWithdrawnQuestion(t *testing.T) {
	withdrawn := make(chan string, 1)
	options := hearing(nil)
	options.OnQuestion = func(question *Question, _ Caller, _ bool) {
		question.OnWithdraw(func(params wire.Payload) { withdrawn <- string(params.Bytes()) })
	}
	session := raw(t, options, askingServer(nil))
	caller := newAsker("p")
	if _, err := session.CallTool(ToolCall{Name: "withdraw"}, caller); err != nil {
		t.Fatal(err)
	}
	if got := <-withdrawn; got != `{"requestId":7,"reason":"never mind"}` {
		t.Errorf("it was withdrawn with %s", got)
	}
}

func TestNoticeComesWithTheCall(t *testing.T) {
	session := raw(t, hearing(nil), askingServer(nil))
	caller := newAsker("p")
	if _, err := session.CallTool(ToolCall{Name: "log"}, caller); err != nil {
		t.Fatal(err)
	}
	if got := <-caller.notices; string(got.Params.Bytes()) != `{"level":"info","data":1}` {
		t.Errorf("the notice is %s", got.Params.Bytes())
	}
}

// While the client is asked, the server cannot give a sign of life.
func TestAnOpenQuestionStopsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := make(chan string, 1)
		options := hearing(nil)
		options.Patience = time.Minute
		session := raw(t, options, askingServer(sent))
		caller := newAsker("p")
		if _, err := session.CallTool(ToolCall{Name: "ask"}, caller); err != nil {
			t.Fatal(err)
		}
		question := <-caller.questions
		<-time.After(10 * time.Minute) // of the bubble's clock
		question.Answer(mustParse(t, `{"jsonrpc":"2.0","id":1,"result":{}}`))
		<-sent
		if got := <-caller.messages; got.err != nil {
			t.Errorf("the call failed: %v", got.err)
		}
		session.Close()
	})
}

func TestForwardKeepsTheParams(t *testing.T) {
	for _, test := range []struct{ name, params, edit, want string }{
		{"as they came", `{ "uri":"a:b","x" :1.0}`, "", `,"params":{ "uri":"a:b","x" :1.0}}`},
		{"none", ``, "", `}`},
		{"another URI", `{"_meta":{"t":1},"uri":"a:b","z":[]}`, `"c:d"`, `,"params":{"_meta":{"t":1},"uri":"c:d","z":[]}}`},
		{"a token", `{"uri":"a:b","_meta":{"progressToken":"mine","t":1}}`, `"c:d"`, `,"params":{"uri":"c:d","_meta":{"progressToken":2,"t":1}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := make(chan string, 1)
			session := raw(t, Options{}, func(line string) string {
				if strings.Contains(line, `"resources/read"`) {
					got <- line
					return `{"jsonrpc":"2.0","id":2,"result":{}}`
				}
				return askingServer(nil)(line)
			})
			request := Forward{Method: "resources/read", Params: wire.Raw([]byte(test.params))}
			if test.edit != "" {
				request.Edits = []wire.Edit{{Part: request.Params.Member("uri"), With: []byte(test.edit)}}
			}
			caller := newAsker("p")
			if _, err := session.Forward(request, caller); err != nil {
				t.Fatal(err)
			}
			if line := strings.TrimSpace(<-got); line != `{"jsonrpc":"2.0","id":2,"method":"resources/read"`+test.want {
				t.Errorf("the server got %s", line)
			}
			<-caller.messages
		})
	}
}
