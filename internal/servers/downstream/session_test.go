package downstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// record keeps what a fake server logs.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

// received returns the raw lines that the server received.
func (r *record) received() (lines []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for line := range strings.Lines(r.text.String()) {
		if line, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "recv "); ok {
			lines = append(lines, line)
		}
	}
	return lines
}

// dial connects to a fake server in memory.
func dial(t *testing.T, spec string, options Options) (*Session, *record, error) {
	t.Helper()
	server, err := mcptest.Parse([]byte(spec))
	if err != nil {
		t.Fatal(err)
	}
	log := new(record)
	server.Log = log
	serverIn, stdin := io.Pipe()
	stdout, serverOut := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(serverIn, serverOut)
		serverIn.Close()
		serverOut.Close()
	}()
	options.Stdin, options.Stdout = stdin, stdout
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	session, err := Connect(ctx, options)
	t.Cleanup(func() {
		if session != nil {
			session.Close()
		}
		<-served
	})
	return session, log, err
}

// connect is dial that must succeed.
func connect(t *testing.T, spec string, options Options) (*Session, *record) {
	t.Helper()
	session, log, err := dial(t, spec, options)
	if err != nil {
		t.Fatal(err)
	}
	return session, log
}

// raw serves lines by hand: answer gets each line of the session but for the probe, and
// returns what to send.
func raw(t *testing.T, options Options, answer func(line string) (reply string)) *Session {
	t.Helper()
	session, err := converse(t, options, func(line string) string {
		if strings.Contains(line, `"server/discover"`) {
			return noProbe
		}
		return answer(line)
	})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// converse is raw with the probe. An answer "\x00" is the end of the server.
func converse(t *testing.T, options Options, answer func(line string) (reply string)) (*Session, error) {
	t.Helper()
	serverIn, stdin := io.Pipe()
	stdout, serverOut := io.Pipe()
	go func() {
		defer serverOut.Close()
		reader := wire.NewReader(serverIn, 0)
		for {
			frame, err := reader.Next()
			if err != nil {
				return
			}
			reply := answer(string(frame.Bytes()))
			if reply == "\x00" {
				return
			}
			if reply != "" {
				if _, err := io.WriteString(serverOut, reply+"\n"); err != nil {
					return
				}
			}
		}
	}()
	options.Stdin, options.Stdout = stdin, stdout
	session, err := Connect(t.Context(), options)
	if err == nil {
		t.Cleanup(session.Close)
	}
	return session, err
}

// noProbe is a legacy server's answer to the probe.
const noProbe = `{"jsonrpc":"2.0","id":"discover","error":{"code":-32601,"message":"Method not found"}}`

const ready = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}`

func TestHandshake(t *testing.T) {
	for _, test := range []struct {
		name, spec string
		want       protocol.Revision
		wantErr    string
	}{
		{name: "newest first", spec: `{}`, want: "2025-11-25"},
		{name: "answers with 2025-06-18", spec: `{"versions":["2025-06-18"]}`, want: "2025-06-18"},
		{name: "answers with 2025-03-26", spec: `{"versions":["2025-03-26"]}`, want: "2025-03-26"},
		{name: "answers with 2024-11-05", spec: `{"versions":["2024-11-05"]}`, want: "2024-11-05"},
		{name: "refuses what it does not know", spec: `{"versions":["2024-11-05"],"refuse":true}`, want: "2024-11-05"},
		{name: "a revision of its own", spec: `{"answer":"1999-01-01"}`, wantErr: "'1999-01-01'"},
		{name: "an error", spec: `{"on":{"initialize":[{"error":{"code":-32000,"message":"no licence"}}]}}`, wantErr: "no licence"},
		{name: "exits", spec: `{"on":{"initialize":[{"exit":3}]}}`, wantErr: ErrOutputClosed.Error()},
		{name: "junk before the handshake", spec: `{"start":[{"send":"hello"},{"send":"[1,2]"},{"send":"{\"id\":1,\"level\":\"info\"}"}]}`, want: "2025-11-25"},
		{name: "CRLF", spec: `{"lineEnd":"\r\n"}`, want: "2025-11-25"},
	} {
		t.Run(test.name, func(t *testing.T) {
			session, _, err := dial(t, test.spec, Options{})
			switch {
			case test.wantErr != "":
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Errorf("error %v does not hold %q", err, test.wantErr)
				}
			case err != nil:
				t.Error(err)
			case session.Revision() != test.want:
				t.Errorf("agreed on %s, want %s", session.Revision(), test.want)
			}
		})
	}
}

func TestHandshakeEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stdin, stdout := new(silentPipe), new(silentPipe)
		stdout.closed = make(chan struct{})
		stdin.closed = make(chan struct{})
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		_, err := Connect(ctx, Options{Stdin: stdin, Stdout: stdout})
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "initialize") {
			t.Errorf("error %v is not that of a timeout of initialize", err)
		}
	})
}

// silentPipe is the server that neither reads nor writes.
type silentPipe struct {
	closed chan struct{}
	once   sync.Once
}

func (p *silentPipe) Read([]byte) (int, error)  { <-p.closed; return 0, io.ErrClosedPipe }
func (p *silentPipe) Write([]byte) (int, error) { <-p.closed; return 0, io.ErrClosedPipe }
func (p *silentPipe) Close() error              { p.once.Do(func() { close(p.closed) }); return nil }

func TestListTools(t *testing.T) {
	for _, test := range []struct {
		name, spec string
		want       string // the definitions, as they were sent
		note       string
		wantErr    string
	}{
		{
			name: "pages in order", spec: `{"pages":[[{"name":"b"},{"name" : "a"}],[{"name":"c","x":1.0}]]}`,
			want: `{"name":"b"} {"name" : "a"} {"name":"c","x":1.0}`,
		},
		{name: "no capability", spec: `{"capabilities":{},"tools":[{"name":"a"}]}`},
		{name: "an error", spec: `{"on":{"tools/list":[{"error":{"code":-1,"message":"not today"}}]}}`, wantErr: "not today"},
		{name: "no list", spec: `{"on":{"tools/list":[{"result":{"tools":5}}]}}`, wantErr: "'tools' is number"},
		{
			name: "a cursor that repeats", spec: `{"on":{"tools/list":[{"result":{"tools":[{"name":"a"}],"nextCursor":"x"}}]}}`,
			want: `{"name":"a"} {"name":"a"}`, note: "cut off",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			session, _ := connect(t, test.spec, Options{})
			tools, note, err := session.ListTools(t.Context())
			var got []string
			for _, tool := range tools {
				got = append(got, string(tool.Bytes()))
			}
			if joined := strings.Join(got, " "); joined != test.want {
				t.Errorf("tools are %s, want %s", joined, test.want)
			}
			if !strings.Contains(note, test.note) || (note == "") != (test.note == "") {
				t.Errorf("note is %q, want %q", note, test.note)
			}
			if (err == nil) != (test.wantErr == "") || err != nil && !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("error is %v, want %q", err, test.wantErr)
			}
		})
	}
}

func TestListToolsWithoutEnd(t *testing.T) {
	page := 0
	session := raw(t, Options{}, func(line string) string {
		if strings.Contains(line, `"initialize"`) {
			return ready
		}
		if !strings.Contains(line, `"tools/list"`) {
			return ""
		}
		page++
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"tools":[{"name":"t%d"}],"nextCursor":"%d"}}`, page+1, page, page)
	})
	tools, note, err := session.ListTools(t.Context())
	if err != nil || len(tools) != maxPages || !strings.Contains(note, "cut off") {
		t.Errorf("got %d tools, note %q, error %v; want %d tools and a note", len(tools), note, err, maxPages)
	}
}

func TestToolsChangedIsReported(t *testing.T) {
	changed := make(chan struct{}, 1)
	session, _ := connect(t, `{"tools":[{"name":"a"}],"calls":{"a":[{"change":[{"name":"b"}]},{"result":{}}]}}`,
		Options{ToolsChanged: func() { changed <- struct{}{} }})
	mustCall(t, session, ToolCall{Name: "a"})
	<-changed
}

func TestServerRequests(t *testing.T) {
	replies := make(chan string, 2)
	session := raw(t, Options{}, func(line string) string {
		switch {
		case strings.Contains(line, `"initialize"`):
			return ready
		case strings.Contains(line, "initialized"):
			return `{"jsonrpc":"2.0","id":"p","method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":7.5,"method":"roots/list"}`
		}
		replies <- line
		return ""
	})
	if got, want := <-replies, `{"jsonrpc":"2.0","id":"p","result":{}}`; got != want {
		t.Errorf("ping was answered with %s, want %s", got, want)
	}
	if got := <-replies; !strings.Contains(got, `"id":7.5`) || !strings.Contains(got, "-32601") {
		t.Errorf("roots/list was answered with %s, want a refusal", got)
	}
	if session.Err() != nil {
		t.Error(session.Err())
	}
}
