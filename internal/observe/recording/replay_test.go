package recording

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

const session = `> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"a"}}}
< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"s"}}}
> {"jsonrpc":"2.0","method":"notifications/initialized"}
>1s {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"n":1,"key":"hunter2-hunter2"},"_meta":{"progressToken":"p"}}}
<1s {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}
< {"jsonrpc":"2.0","id":2,"result":{"content":"first"}}
> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"n":1,"key":"hunter2-hunter2"}}}
< {"jsonrpc":"2.0","id":3,"result":{"content":"second"}}
> {"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"ask","arguments":{}}}
< {"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"Name?"}}
> {"jsonrpc":"2.0","id":"q1","result":{"action":"accept","content":{"name":"Ada"}}}
< {"jsonrpc":"2.0","id":4,"result":{"content":"Hello Ada"}}
> {"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"a://b"}}
< {"jsonrpc":"2.0","id":5,"error":{"code":-32002,"message":"gone"}}
< {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}
> {"jsonrpc":"2.0","id":6,"method":"tools/list"}
< {"jsonrpc":"2.0","id":6,"result":{"tools":[]}}
> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"slow"}}
> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}
`

func TestReplay(t *testing.T) {
	recorded := record(t, []string{"hunter2-hunter2"}, session)
	for _, test := range []struct {
		name    string
		session string // what the client says, and what it has to be told
		told    string
		count   Count
	}{
		{"initialize by anyone", `> {"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2024-11-05"}}
< {"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"s"}}}`, "", Count{Answered: 1}},

		{"progress under its own token, then the next answer, then the last again", `> {"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"_meta":{"progressToken":99},"arguments":{"key":"another-secret","n":1.0},"name":"echo"}}
< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":99,"progress":1}}
< {"jsonrpc":"2.0","id":10,"result":{"content":"first"}}
> {"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"echo","arguments":{"n":1,"key":"x"}}}
< {"jsonrpc":"2.0","id":11,"result":{"content":"second"}}
> {"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"echo","arguments":{"n":1,"key":"x"}}}
< {"jsonrpc":"2.0","id":12,"result":{"content":"second"}}`, "", Count{Answered: 3}},

		{"no progress for one who did not ask", `> {"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"echo","arguments":{"n":1,"key":"x"}}}
< {"jsonrpc":"2.0","id":10,"result":{"content":"first"}}`, "", Count{Answered: 1}},

		{"a question with the same answer", `> {"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"ask","arguments":{}}}
< {"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"Name?"}}
> {"jsonrpc":"2.0","id":"q1","result":{"content":{"name":"Ada"},"action":"accept"}}
< {"jsonrpc":"2.0","id":10,"result":{"content":"Hello Ada"}}`, "", Count{Answered: 1}},

		{"a question with another answer", `> {"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"ask","arguments":{}}}
< {"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"Name?"}}
> {"jsonrpc":"2.0","id":"q1","result":{"action":"decline"}}
< {"jsonrpc":"2.0","id":10,"result":{"content":"Hello Ada"}}`, `The client answered 'elicitation/create' in another way than recorded: result.action is "decline", not "accept" as recorded`, Count{Answered: 1, Different: 1}},

		{"an error, and what the server said afterwards", `> {"jsonrpc":"2.0","id":10,"method":"resources/read","params":{"uri":"a://b"}}
< {"jsonrpc":"2.0","id":10,"error":{"code":-32002,"message":"gone"}}
< {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, "", Count{Answered: 1}},

		{"a ping that was never recorded", `> {"jsonrpc":"2.0","id":10,"method":"ping"}
< {"jsonrpc":"2.0","id":10,"result":{}}`, "", Count{}},

		{"a request that was cancelled has no answer", `> {"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"slow"}}
> {"jsonrpc":"2.0","id":11,"method":"tools/list","params":{}}
< {"jsonrpc":"2.0","id":11,"result":{"tools":[]}}`, "", Count{Answered: 2}},

		{
			"other arguments", `> {"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"echo","arguments":{"n":2,"key":"x"}}}
< {"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"The recording has no such request 'tools/call' of 'echo': arguments.n is 2, not 1 as recorded"}}`,
			"The recording has no such request 'tools/call' of 'echo': arguments.n is 2, not 1 as recorded",
			Count{Unmatched: 1},
		},

		{
			"another tool", `> {"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"other"}}
< {"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"The recording has no request 'tools/call' of 'other'; it has it of: echo, ask, slow"}}`,
			"The recording has no request 'tools/call' of 'other'; it has it of: echo, ask, slow",
			Count{Unmatched: 1},
		},

		{
			"another method", `> {"jsonrpc":"2.0","id":10,"method":"prompts/list"}
< {"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"The recording has no request 'prompts/list'"}}`,
			"The recording has no request 'prompts/list'",
			Count{Unmatched: 1},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, told := play(t, recorded, test.session, false)
			if told != test.told {
				t.Errorf("told %q, want %q", told, test.told)
			}
			if got != test.count {
				t.Errorf("counted %+v, want %+v", got, test.count)
			}
		})
	}
}

// play plays a recording to a client that says its lines, and wants the others in between.
func play(t *testing.T, recorded, session string, timing bool) (count Count, told string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r, err := Read(strings.NewReader(recorded))
		if err != nil {
			t.Fatal(err)
		}
		player := NewPlayer(r)
		player.Timing = timing
		player.OnMismatch = func(sentence string) { told += sentence }
		in, client := io.Pipe()
		server, out := io.Pipe()
		type end struct {
			count Count
			err   error
		}
		ended := make(chan end, 1)
		go func() {
			count, err := player.Serve(t.Context(), in, out)
			out.Close()
			ended <- end{count, err}
		}()
		lines := bufio.NewReader(server)
		for line := range strings.Lines(session) {
			side, message, _ := strings.Cut(strings.TrimSpace(line), " ")
			if side == ">" {
				if _, err := io.WriteString(client, message+"\n"); err != nil {
					t.Fatal(err)
				}
				continue
			}
			began := time.Now()
			got, err := lines.ReadString('\n')
			if err != nil || strings.TrimSpace(got) != message {
				t.Errorf("got  %s (%v)\nwant %s", got, err, message)
			}
			if want, err := time.ParseDuration(side[1:]); err == nil && time.Since(began) != want {
				t.Errorf("it came after %v, want %v", time.Since(began), want)
			}
		}
		client.Close()
		if rest, _ := io.ReadAll(lines); len(rest) > 0 {
			t.Errorf("something more: %s", rest)
		}
		last := <-ended
		if last.err != nil {
			t.Error(last.err)
		}
		count = last.count
	})
	return count, told
}

func TestReplayKeepsThePauses(t *testing.T) {
	recorded := record(t, nil, session)
	play(t, recorded, `> {"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"_meta":{"progressToken":99},"arguments":{"key":"hunter2-hunter2","n":1},"name":"echo"}}
<1s {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":99,"progress":1}}
<0s {"jsonrpc":"2.0","id":10,"result":{"content":"first"}}`, true)
}

func TestAQuestionEndsWithItsCall(t *testing.T) {
	recorded := record(t, nil, session)
	play(t, recorded, `> {"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"ask","arguments":{}}}
< {"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"Name?"}}
> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":10}}
> {"jsonrpc":"2.0","id":11,"method":"tools/list"}
< {"jsonrpc":"2.0","id":11,"result":{"tools":[]}}`, false)
}

func TestSubscriptionsKeepTheirId(t *testing.T) {
	recorded := record(t, nil, `> {"jsonrpc":"2.0","id":"listen-1","method":"subscriptions/listen","params":{"notifications":{}}}
< {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"listen-1"}}}
`)
	play(t, recorded, `> {"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{}}}
< {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7}}}`, false)
}

func TestDifference(t *testing.T) {
	for _, test := range []struct{ recorded, asked, want string }{
		{`{"a":[1,{"b":null}]}`, `{"a":[1,{"b":null}]}`, ""},
		{`{"a":[1]}`, `{"a":[1,2]}`, "a has 2 elements, not 1 as recorded"},
		{`{"a":1}`, `{"a":"1"}`, `a is "1", not 1 as recorded`},
		{`{"a":1}`, `{}`, "a is missing"},
		{`{}`, `{"a":1}`, "a was not in the recording"},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`, "a is 9007199254740992, not 9007199254740993 as recorded"},
		{`{"a":"key [hidden] and [hidden]!"}`, `{"a":"key x and y!"}`, ""},
		{`{"a":"key [hidden] and [hidden]!"}`, `{"a":"key x or y!"}`, `a is "key x or y!", not "key [hidden] and [hidden]!" as recorded`},
		{`{"a":true}`, `{"a":false}`, "a is false, not true as recorded"},
	} {
		recorded, asked := parsed(t, test.recorded), parsed(t, test.asked)
		if got := difference("", recorded, asked); got != test.want {
			t.Errorf("%s and %s: %q, want %q", test.recorded, test.asked, got, test.want)
		}
	}
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	value, err := wire.ParseValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return decode(value)
}
