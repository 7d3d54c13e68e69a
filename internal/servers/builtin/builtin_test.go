package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) {
	mcptest.PlayRole(func(_ string, args []string) int { return writeNotes(args[0]) })
	goleak.VerifyTestMain(m)
}

// connect serves s in memory and returns a client's session with it.
func connect(t *testing.T, s service, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	clientEnd, serverEnd := mcp.NewInMemoryTransports()
	server := newServer(kind{name: "test"}, s, "v0")
	serving, err := server.Connect(t.Context(), serverEnd, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "v0"}, opts)
	session, err := client.Connect(t.Context(), clientEnd, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		serving.Wait()
		s.Close()
	})
	return session
}

func callRaw(t *testing.T, session *mcp.ClientSession, tool string, args any) *mcp.CallToolResult {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return result
}

// call calls a tool that must succeed, and returns its structured output and text.
func call[Out any](t *testing.T, session *mcp.ClientSession, tool string, args any) (Out, string) {
	t.Helper()
	result := callRaw(t, session, tool, args)
	if result.IsError {
		t.Fatalf("%s: unexpected error: %s", tool, textOf(result))
	}
	data, err := json.Marshal(result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var out Out
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatalf("%s: %v in %s", tool, err, data)
	}
	return out, textOf(result)
}

// callError calls a tool that must fail, with a message that holds all of want.
func callError(t *testing.T, session *mcp.ClientSession, tool string, args any, want ...string) {
	t.Helper()
	result := callRaw(t, session, tool, args)
	if !result.IsError {
		t.Fatalf("%s: no error, but %s", tool, textOf(result))
	}
	contains(t, textOf(result), want...)
}

func textOf(result *mcp.CallToolResult) string {
	var blocks []string
	for _, content := range result.Content {
		blocks = append(blocks, content.(*mcp.TextContent).Text)
	}
	return strings.Join(blocks, "\n")
}

func contains(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing in: %s", w, text)
		}
	}
}

type args map[string]any

func TestDefinitions(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_DATA_HOME", t.TempDir())
			k, err := find(name)
			if err != nil {
				t.Fatal(err)
			}
			s, err := k.open(k.name, nil)
			if err != nil {
				t.Fatal(err)
			}
			session := connect(t, s, nil)
			listed, err := session.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range listed.Tools {
				if tool.Title == "" || tool.Description == "" || tool.OutputSchema == nil || tool.Annotations == nil {
					t.Errorf("%s is described incompletely", tool.Name)
				}
			}
			got, err := json.MarshalIndent(listed.Tools, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", name+".json"), append(got, '\n'))
			if text := session.InitializeResult().Instructions; text == "" {
				t.Error("no instructions")
			}
			if Describe(name) == "" {
				t.Error("no description")
			}
		})
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err, "(go test ./internal/servers/builtin -update writes it)")
	}
	if string(got) != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("%s differs; if that is meant, run go test -update. Got:\n%s", path, got)
	}
}

func TestRunRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		want []string
	}{
		{"clok", nil, []string{`"clok"`, "Did you mean clock"}},
		{"", nil, []string{"files, notes, clock"}},
		{"clock", []string{"extra"}, []string{`"extra"`, "Usage: mcp-workbench builtin clock"}},
		{"notes", []string{"--root", "x"}, []string{"-root", "Usage"}},
		{"files", []string{"--root", "no/such/folder"}, []string{"cannot serve the files in", "--root DIR"}},
		{"files", []string{"--help"}, []string{"[--root DIR]", "the DIR to serve"}},
	} {
		err := Run(t.Context(), test.name, test.args, Options{})
		if _, ok := errors.AsType[*toolbox.Error](err); !ok {
			t.Errorf("Run(%q, %q) = %T, want *toolbox.Error", test.name, test.args, err)
			continue
		}
		contains(t, err.Error(), test.want...)
	}
	if Describe("nothing") != "" {
		t.Error("a server that does not exist is described")
	}
}

// serve runs a server on pipes, and returns the client's ends and the outcome.
func serve(ctx context.Context, name string, args ...string) (io.WriteCloser, io.ReadCloser, <-chan error) {
	serverIn, toServer := io.Pipe()
	fromServer, serverOut := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, name, args, Options{Version: "v1.2.3", Stdin: serverIn, Stdout: serverOut})
		serverOut.Close()
	}()
	return toServer, fromServer, ended
}

func TestRunUntilEOF(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_DATA_HOME", t.TempDir())
			in, out, ended := serve(t.Context(), name)
			client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "v0"}, nil)
			session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: out, Writer: in}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if info := session.InitializeResult().ServerInfo; info.Version != "v1.2.3" || info.Name != "mcp-workbench-"+name {
				t.Errorf("server calls itself %+v", info)
			}
			session.Close()
			if err := <-ended; err != nil {
				t.Errorf("Run = %v at the end of its input", err)
			}
		})
	}
}

func TestRunUntilContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, out, ended := serve(ctx, "clock")
	defer in.Close()
	defer out.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run = %v when its context ended", err)
	}
}

func TestRunReportsBrokenInput(t *testing.T) {
	in, out, ended := serve(t.Context(), "clock")
	defer out.Close()
	go io.WriteString(in, "this is not JSON\n")
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "serving clock") {
		t.Errorf("Run = %v for broken input", err)
	}
	in.Close()
}

func TestRequestsEndWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	handler := endWith(ctx)(func(ctx context.Context, _ string, _ mcp.Request) (mcp.Result, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if _, err := handler(context.Background(), "", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("handler ended with %v", err)
	}
}

func at(text string) func() time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return func() time.Time { return t }
}
