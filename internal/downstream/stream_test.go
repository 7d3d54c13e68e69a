package downstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// mustCall calls a tool and returns its response.
func mustCall(t *testing.T, session *Session, call ToolCall) wire.Message {
	t.Helper()
	stream, err := session.CallTool(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for {
		message, err := stream.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if message.IsResponse() {
			return message
		}
	}
}

func TestCallIsSplicedFromTheClientsBytes(t *testing.T) {
	for _, test := range []struct{ name, arguments, meta, want string }{
		{"as they came", `{"b": 1.0,"a":[ ],"n":12345678901234567890,"u":"\u00e9é\ud800"}`, "",
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"b": 1.0,"a":[ ],"n":12345678901234567890,"u":"\u00e9é\ud800"}}}`},
		{"absent", "", "", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}`},
		{"meta without a token", `{}`, `{"trace": "x"}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","_meta":{"trace": "x"},"arguments":{}}}`},
		{"the token is ours", `{}`, `{"a":1,"progressToken" : "theirs","z":2}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","_meta":{"a":1,"progressToken" : 2,"z":2},"arguments":{}}}`},
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
	stream, err := session.CallTool(t.Context(), ToolCall{Name: "x", Meta: wire.Raw([]byte(`{"progressToken":1}`))})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for i := range notices {
		message, err := stream.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := string(message.Params.Member("progress").Bytes()); got != fmt.Sprint(i) {
			t.Fatalf("message %d is progress %q", i, got)
		}
	}
	if message, err := stream.Next(t.Context()); err != nil || !message.IsResponse() {
		t.Errorf("the last message is %+v, %v; want the response", message, err)
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
			stream, err := session.CallTool(t.Context(), ToolCall{Name: "x", Arguments: wire.Raw([]byte(want))})
			if err != nil {
				t.Error(err)
				return
			}
			defer stream.Close()
			message, err := stream.Next(t.Context())
			if err != nil || string(message.Result.Bytes()) != want {
				t.Errorf("got %s, %v; want %s", message.Result.Bytes(), err, want)
			}
		})
	}
	group.Wait()
}

func TestCancelIsToldAndLateAnswersAreDropped(t *testing.T) {
	session, log := connect(t, `{"calls":{"slow":[{"wait":"cancelled"},{"result":{"late":true}}]}}`, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := session.CallTool(ctx, ToolCall{Name: "slow"})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := stream.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Next says %v, want that it was cancelled", err)
	}
	if err := stream.Cancel(t.Context(), []byte(`"enough"`)); err != nil {
		t.Error(err)
	}
	stream.Close()
	mustCall(t, session, ToolCall{Name: "echo"}) // the late answer came before this one's
	want := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"enough"}}`
	if lines := log.received(); lines[len(lines)-2] != want {
		t.Errorf("the server was told %s, want %s", lines[len(lines)-2], want)
	}
}

func TestBadAnswersFailTheirCall(t *testing.T) {
	deep := `{"jsonrpc":"2.0","id":2,"result":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`
	for _, test := range []struct{ name, answer, want string }{
		{"too deep", deep, "nesting"},
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
			stream, err := session.CallTool(t.Context(), ToolCall{Name: "x"})
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Close()
			if _, err := stream.Next(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the call fails with %v, want %q", err, test.want)
			}
		})
	}
}

func TestClosedSessionRefusesCalls(t *testing.T) {
	session, _ := connect(t, `{}`, Options{})
	session.Close()
	if _, err := session.CallTool(t.Context(), ToolCall{Name: "x"}); !errors.Is(err, ErrClosed) {
		t.Errorf("a call fails with %v, want %v", err, ErrClosed)
	}
}

// A client whose budget is spent stops the reading from its server, and nothing is lost
// when it takes its messages at last.
func TestReaderWaitsForTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const answers = 5
		serverIn, stdin := io.Pipe()
		stdout, serverOut := io.Pipe()
		written := 0
		go func() {
			defer serverOut.Close()
			reader := wire.NewReader(serverIn, 0)
			for {
				frame, err := reader.Next()
				if err != nil {
					return
				}
				line := string(frame.Bytes())
				if strings.Contains(line, `"initialize"`) {
					_, _ = io.WriteString(serverOut, ready+"\n")
				}
				if !strings.Contains(line, `"name":"last"`) {
					continue
				}
				for id := range answers {
					fmt.Fprintf(serverOut, `{"jsonrpc":"2.0","id":%d,"result":{"x":"%s"}}`+"\n", id+2, strings.Repeat("x", 100))
					written++
				}
			}
		}()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		session, err := Connect(ctx, Options{Stdin: stdin, Stdout: stdout})
		if err != nil {
			t.Fatal(err)
		}
		budget := wire.NewBudget(300) // room for two answers
		streams := make([]*Stream, answers)
		for i := range streams {
			name := "x"
			if i == answers-1 {
				name = "last"
			}
			if streams[i], err = session.CallTool(ctx, ToolCall{Name: name, Budget: budget}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if written > 3 { // two are held, and one may be in the reader's hands
			t.Errorf("%d answers were read though the budget is for 2", written)
		}
		for _, stream := range streams {
			if _, err := stream.Next(ctx); err != nil {
				t.Error(err)
			}
			stream.Close()
		}
		session.Close()
	})
}
