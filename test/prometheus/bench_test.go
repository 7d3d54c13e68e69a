package prometheus

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// secret is in the environment of a server, and in the name of one of its tools.
const secret = "hunter2-and-more"

// fake is a server with tools that end in every way.
const fake = `{"tools": [{"name":"good"},{"name":"bad"},{"name":"worse"},{"name":"crash"},{"name":"named_` + secret + `"}],
	"calls": {"bad": [{"result":{"content":[],"isError":true}}], "worse": [{"error":{"code":-32000,"message":"no"}}], "crash": [{"exit":3}]}}`

// bench is a workbench that serves over HTTP, and asks for tokens.
type bench struct {
	*released.Workbench
	t      *testing.T
	folder string
	tokens map[string]string
	traces string // where traces are sent to, so that there are exemplars
}

// grants are the tokens that there are, and how each is made. They are made first: a workbench that runs needs a moment
// to notice a new one.
var grants = map[string][]string{
	"caller": nil, "reader": {"--for", "metrics"}, "both": {"--for", "metrics,calls"}, "page": {"--for", "page"},
	"narrow": {"--for", "metrics", "--toolbox", "ops"},
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, folder: t.TempDir(), tokens: make(map[string]string)}
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	b.traces = receiver.URL
	spec := b.write("fake.json", fake)
	server := map[string]any{"command": mcptest.Self(), "args": mcptest.RoleArgs(mcptest.FakeServer, spec), "env": map[string]string{"PASSWORD": secret}}
	box := map[string]any{"description": "d", "mcpServers": map[string]any{"s": server}}
	config, err := json.Marshal(map[string]any{"autoOpen": true, "toolboxes": map[string]any{"dev": box, "ops": box}})
	if err != nil {
		t.Fatal(err)
	}
	path := b.write("workbench-config.json", string(config))
	for name, args := range grants {
		b.tokens[name] = strings.TrimSpace(b.output(append([]string{"token", "add", name, "--config", path}, args...)...))
	}
	b.Workbench = released.Start(t, b.command("serve", "--listen", "127.0.0.1:0", "--config", path))
	return b
}

func (b *bench) write(name, content string) (path string) {
	b.t.Helper()
	path = filepath.Join(b.folder, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// command returns a command of the workbench in the folder.
func (b *bench) command(args ...string) *exec.Cmd {
	cmd := exec.Command(released.Binary(b.t), args...)
	cmd.Dir = b.folder
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+b.folder, "XDG_CONFIG_HOME="+b.folder, "XDG_RUNTIME_DIR="+b.folder, "OTEL_EXPORTER_OTLP_ENDPOINT="+b.traces)
	return cmd
}

// output runs a command of the workbench, and returns what it wrote to stdout.
func (b *bench) output(args ...string) string {
	b.t.Helper()
	out, err := b.command(args...).Output()
	if err != nil {
		b.t.Fatalf("%v: %v", args, err)
	}
	return string(out)
}

// root is the address of the workbench without a path.
func (b *bench) root() string { return strings.TrimSuffix(b.Address, "/mcp") }

// get reads the metrics with a token.
func (b *bench) get(token, accept string) (status int, body string) {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.root()+"/metrics", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Accept", accept)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

// connect begins a session.
func (b *bench) connect() *mcptest.HTTPClient {
	b.t.Helper()
	client := mcptest.NewHTTPClient(b.Address, http.Header{"Authorization": {"Bearer " + b.tokens["caller"]}})
	if answer, err := client.Initialize(b.t.Context(), "2025-11-25"); err != nil || answer.Result == nil {
		b.t.Fatalf("%s %v %v", answer.Raw, answer.Bad, err)
	}
	return client
}

// work calls all tools again and again, until end is called. Only the server of ops crashes.
func (b *bench) work() (end func()) {
	b.t.Helper()
	b.connect().Close() // a session that has ended
	client := b.connect()
	ctx, cancel := context.WithCancel(b.t.Context())
	var working sync.WaitGroup
	working.Go(func() {
		defer client.Close()
		pace := time.NewTicker(10 * time.Millisecond) // leaves the machine to others
		defer pace.Stop()
		for ctx.Err() == nil {
			for _, tool := range []string{"dev good", "dev bad", "dev worse", "dev named_" + secret, "dev absent", "ops good", "ops crash"} {
				<-pace.C
				box, name, _ := strings.Cut(tool, " ")
				params := fmt.Sprintf(`{"name":"use_tool","arguments":{"tool":{"toolbox":%q,"server":"s","name":%q}}}`, box, name)
				if answer, err := client.Request(ctx, "tools/call", params); ctx.Err() == nil && (err != nil || answer.Result == nil) {
					b.t.Errorf("%s: %s %v %v", tool, answer.Raw, answer.Bad, err)
					return
				}
			}
		}
	})
	return func() {
		cancel()
		working.Wait()
	}
}
