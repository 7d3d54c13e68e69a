package downstream

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// inbox is a sink that keeps everything, in order.
type inbox struct{ messages chan answer }

func newInbox() *inbox { return &inbox{make(chan answer, 5000)} }

func (*inbox) Caller() Caller { return nil }

func (b *inbox) Progress(message wire.Message) { b.messages <- answer{message, nil} }

func (b *inbox) Done(response wire.Message, err error) { b.messages <- answer{response, err} }

// mustCall calls a tool and returns its response.
func mustCall(t *testing.T, session *Session, call ToolCall) wire.Message {
	t.Helper()
	in := newInbox()
	if _, err := session.CallTool(call, in); err != nil {
		t.Fatal(err)
	}
	for {
		got := <-in.messages
		if got.err != nil {
			t.Fatal(got.err)
		}
		if got.response.IsResponse() {
			return got.response
		}
	}
}

func TestCallIsSplicedFromTheClientsBytes(t *testing.T) {
	for _, test := range []struct{ name, arguments, meta, want string }{
		{
			"as they came", `{"b": 1.0,"a":[ ],"n":12345678901234567890,"u":"\u00e9é\ud800"}`, "",
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"b": 1.0,"a":[ ],"n":12345678901234567890,"u":"\u00e9é\ud800"}}}`,
		},
		{"absent", "", "", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}`},
		{
			"meta without a token", `{}`, `{"trace": "x"}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","_meta":{"trace": "x"},"arguments":{}}}`,
		},
		{
			"the token is ours", `{}`, `{"a":1,"progressToken" : "theirs","z":2}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","_meta":{"a":1,"progressToken" : 2,"z":2},"arguments":{}}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			session, log := connect(t, `{}`, Options{})
			call := ToolCall{Name: "echo", Arguments: wire.Raw([]byte(test.arguments)), Meta: wire.Raw([]byte(test.meta))}
			mustCall(t, session, call)
			lines := log.received()
			if got := lines[len(lines)-1]; got != test.want {
				t.Errorf("sent down\n %s\nwant\n %s", got, test.want)
			}
		})
	}
}

func TestResponseComesLast(t *testing.T) {
	const notices = 2000
	session := raw(t, Options{}, func(line string) string {
		if strings.Contains(line, `"initialize"`) {
			return ready
		}
		if !strings.Contains(line, `"tools/call"`) {
			return ""
		}
		var out strings.Builder
		for i := range notices {
			fmt.Fprintf(&out, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":%d}}`+"\n", i)
		}
		return out.String() + `{"jsonrpc":"2.0","id":2,"result":{}}`
	})
	in := newInbox()
	if _, err := session.CallTool(ToolCall{Name: "x", Meta: wire.Raw([]byte(`{"progressToken":1}`))}, in); err != nil {
		t.Fatal(err)
	}
	for i := range notices {
		got := <-in.messages
		if progress := string(got.response.Params.Member("progress").Bytes()); progress != fmt.Sprint(i) {
			t.Fatalf("message %d is progress %q, %v", i, progress, got.err)
		}
	}
	if got := <-in.messages; got.err != nil || !got.response.IsResponse() {
		t.Errorf("the last message is %+v; want the response", got)
	}
}

func TestEachCallGetsItsOwnAnswer(t *testing.T) {
	const calls = 100
	var mu sync.Mutex
	var waiting []string
	session := raw(t, Options{}, func(line string) string {
		if strings.Contains(line, `"initialize"`) {
			return ready
		}
		if !strings.Contains(line, `"tools/call"`) {
			return ""
		}
		message, err := wire.Parse(wire.NewFrame([]byte(line)))
		if err != nil {
			return err.Error()
		}
		mu.Lock()
		defer mu.Unlock()
		waiting = append([]string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`,
			message.ID.Bytes(), message.Params.Member("arguments").Bytes())}, waiting...)
		if len(waiting) < calls {
			return ""
		}
		stray := `{"jsonrpc":"2.0","id":999999,"result":{}}` + "\n"
		return stray + strings.Join(waiting, "\n"+waiting[0]+"\n") // the last one's answer over and over
	})
	var group sync.WaitGroup
	for i := range calls {
		group.Go(func() {
			want := fmt.Sprintf(`{"n":%d}`, i)
			in := newInbox()
			if _, err := session.CallTool(ToolCall{Name: "x", Arguments: wire.Raw([]byte(want))}, in); err != nil {
				t.Error(err)
				return
			}
			got := <-in.messages
			if got.err != nil || string(got.response.Result.Bytes()) != want {
				t.Errorf("got %s, %v; want %s", got.response.Result.Bytes(), got.err, want)
			}
		})
	}
	group.Wait()
}

func TestCancelIsToldAndLateAnswersAreDropped(t *testing.T) {
	session, log := connect(t, `{"calls":{"slow":[{"wait":"cancelled"},{"result":{"late":true}}]}}`, Options{})
	in := newInbox()
	id, err := session.CallTool(ToolCall{Name: "slow"}, in)
	if err != nil {
		t.Fatal(err)
	}
	if !session.Cancel(id, []byte(`"enough"`)) {
		t.Error("a call in flight could not be cancelled")
	}
	if session.Cancel(id, nil) {
		t.Error("a cancelled call was cancelled again")
	}
	mustCall(t, session, ToolCall{Name: "echo"}) // the late answer came before this one's
	if len(in.messages) > 0 {
		t.Errorf("after its cancellation the call got %+v", <-in.messages)
	}
	want := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"enough"}}`
	if lines := log.received(); lines[len(lines)-2] != want {
		t.Errorf("the server was told %s, want %s", lines[len(lines)-2], want)
	}
}

func TestBadAnswersFailTheirCall(t *testing.T) {
	deep := `{"jsonrpc":"2.0","id":2,"result":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`
	for _, test := range []struct{ name, answer, want string }{
		{"too deep", deep, "max depth"},
		{"not JSON", `{"jsonrpc":"2.0","id":2,"result":{oops}}`, "cannot be used"},
		{"both result and error", `{"jsonrpc":"2.0","id":2,"result":{},"error":{}}`, "just one of"},
		{"too long", `{"jsonrpc":"2.0","result":"` + strings.Repeat("x", 300_000) + `","id":2}`, "maxMessageSize"},
		{"the end of the session", "\x00", ErrOutputClosed.Error()},
	} {
		t.Run(test.name, func(t *testing.T) {
			serverIn, stdin := io.Pipe()
			stdout, serverOut := io.Pipe()
			go func() {
				defer serverOut.Close()
				reader := wire.NewReader(serverIn, 0)
				for {
					frame, err := reader.Next()
					switch line := string(frame.Bytes()); {
					case err != nil:
						return
					case strings.Contains(line, `"server/discover"`):
						_, _ = io.WriteString(serverOut, noProbe+"\n")
					case strings.Contains(line, `"initialize"`):
						_, _ = io.WriteString(serverOut, ready+"\n")
					case strings.Contains(line, `"tools/call"`):
						if test.answer == "\x00" {
							return
						}
						_, _ = io.WriteString(serverOut, test.answer+"\n")
					}
				}
			}()
			session, err := Connect(t.Context(), Options{Stdin: stdin, Stdout: stdout, MaxMessage: 250_000})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			in := newInbox()
			if _, err := session.CallTool(ToolCall{Name: "x"}, in); err != nil {
				t.Fatal(err)
			}
			if got := <-in.messages; got.err == nil || !strings.Contains(got.err.Error(), test.want) {
				t.Errorf("the call fails with %v, want %q", got.err, test.want)
			}
		})
	}
}

func TestClosedSessionRefusesCalls(t *testing.T) {
	session, _ := connect(t, `{}`, Options{})
	session.Close()
	if _, err := session.CallTool(ToolCall{Name: "x"}, newInbox()); !errors.Is(err, ErrClosed) {
		t.Errorf("a call fails with %v, want %v", err, ErrClosed)
	}
}

// silentServer answers the probe, if told to, and initialize, and nothing else, until its
// input ends.
func silentServer(stdin io.Reader, stdout io.WriteCloser, probed string, seen func(line string)) {
	defer stdout.Close()
	reader := wire.NewReader(stdin, 0)
	for {
		frame, err := reader.Next()
		if err != nil {
			return
		}
		line := string(frame.Bytes())
		seen(line)
		switch {
		case strings.Contains(line, `"server/discover"`):
			_, _ = io.WriteString(stdout, probed+"\n")
		case strings.Contains(line, `"initialize"`):
			_, _ = io.WriteString(stdout, ready+"\n")
		}
	}
}

func TestSilentCallsEndWithoutTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		serverIn, stdin := io.Pipe()
		stdout, serverOut := io.Pipe()
		var lines []string
		go silentServer(serverIn, serverOut, noProbe, func(line string) { lines = append(lines, line) })
		session, err := Connect(t.Context(), Options{Stdin: stdin, Stdout: stdout, Patience: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		calls := make([]*inbox, 3)
		began := time.Now()
		for i := range calls {
			calls[i] = newInbox()
			if _, err := session.CallTool(ToolCall{Name: "x"}, calls[i]); err != nil {
				t.Fatal(err)
			}
			<-time.After(20 * time.Second) // of the bubble's clock: the calls begin one after the other
			if i == 1 {
				session.handleNotification(mustParse(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}`), 0)
			}
		}
		<-calls[0].messages // the progress, which gives it another minute
		for i, want := range []time.Duration{100 * time.Second, 80 * time.Second, 100 * time.Second} {
			got := <-calls[i].messages
			var silence *SilenceError
			if !errors.As(got.err, &silence) || silence.Limit != time.Minute {
				t.Errorf("call %d ended with %+v, want that it was silent", i, got)
			}
			if ended := time.Since(began); ended < want || ended > want+time.Minute {
				t.Errorf("call %d ended after %s, want %s", i, ended, want)
			}
		}
		synctest.Wait()
		if last := lines[len(lines)-1]; !strings.Contains(last, "notifications/cancelled") {
			t.Errorf("the server was not told; the last line is %s", last)
		}
	})
}

func mustParse(t *testing.T, line string) wire.Message {
	t.Helper()
	message, err := wire.Parse(wire.NewFrame([]byte(line)))
	if err != nil {
		t.Fatal(err)
	}
	return message
}

// A server that stops reading blocks nobody who calls it, and its calls end in time.
func TestServerThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		serverIn, stdin := io.Pipe()
		stdout, serverOut := io.Pipe()
		go func() {
			reader := wire.NewReader(serverIn, 0)
			for _, reply := range []string{noProbe, ready, ready} { // to the probe, initialize, initialized
				if _, err := reader.Next(); err != nil {
					return
				}
				_, _ = io.WriteString(serverOut, reply+"\n")
			}
		}()
		session, err := Connect(t.Context(), Options{Stdin: stdin, Stdout: stdout, Patience: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		big := []byte(`{"x":"` + strings.Repeat("x", queueLimit/2) + `"}`)
		calls := make([]*inbox, 8)
		for i := range calls {
			calls[i] = newInbox()
			if _, err := session.CallTool(ToolCall{Name: "x", Arguments: wire.Raw(big)}, calls[i]); err != nil {
				t.Fatal(err)
			}
		}
		for i := range calls {
			if got := <-calls[i].messages; got.err == nil {
				t.Errorf("call %d got an answer", i)
			}
		}
		session.Close()
		serverOut.Close()
	})
}
