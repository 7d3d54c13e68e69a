package importer

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// address makes a place to listen on, and what it is called.
func address(t *testing.T) (net.Listener, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener, "http://" + listener.Addr().String() + "/mcp"
}

// serveFile serves a configuration, which it writes, until the test ends.
func serveFile(t *testing.T, listener net.Listener, tokens *httpauth.Store, servers string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "workbench-config.json")
	if err := os.WriteFile(file, []byte(`{"toolboxes": {"t": {"description": "d", "mcpServers": {`+servers+`}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(file, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	workbench, err := app.New(app.Options{Config: cfg, Version: "1", StateDir: config.StateDir()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- workbench.ServeHTTP(ctx, listener, app.HTTPOptions{Tokens: tokens}) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := workbench.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return file
}

// callHTTP calls a tool of the workbench at an address, and returns the text of the answer.
func callHTTP(t *testing.T, address string, modern bool, tool, arguments string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	client := mcptest.NewHTTPClient(address, nil)
	defer client.Close()
	meta := ""
	if modern {
		meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	} else if _, err := client.Initialize(ctx, "2025-06-18"); err != nil {
		t.Fatal(err)
	}
	answer, err := client.Request(ctx, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s%s}`, tool, arguments, meta))
	if err != nil {
		t.Fatal(err)
	}
	var result struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(answer.Raw, &result); err != nil || len(result.Result.Content) == 0 {
		t.Fatalf("%v: %s", err, answer.Raw)
	}
	return result.Result.Content[0].Text
}

// A workbench that serves over HTTP notices that it is reached through itself: at once, and behind
// another one, also where both were connected for others before.
func TestLoopsOverHTTP(t *testing.T) {
	for _, modern := range []bool{false, true} {
		t.Run(fmt.Sprintf("modern %v", modern), func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			own, ownAddress := address(t)
			serveFile(t, own, nil, `"back": {"url": "`+ownAddress+`"}`)
			got := callHTTP(t, ownAddress, modern, "open_toolbox", `{"toolbox":"t"}`)
			if !strings.Contains(got, "server 'back' in toolbox 't' leads back to this workbench: remove it") {
				t.Errorf("got %s", got)
			}

			first, firstAddress := address(t)
			second, secondAddress := address(t)
			serveFile(t, first, nil, `"second": {"url": "`+secondAddress+`"}`)
			serveFile(t, second, nil, `"first": {"url": "`+firstAddress+`"}`)
			for _, at := range []string{firstAddress, secondAddress} {
				if got := callHTTP(t, at, modern, "open_toolbox", `{"toolbox":"t"}`); !strings.Contains(got, `"servers_connected":1`) {
					t.Errorf("got %s", got)
				}
			}
			got = callHTTP(t, firstAddress, true, "use_tool", `{"tool":{"toolbox":"t","server":"second","name":"open_toolbox"},"arguments":{"toolbox":"t"}}`)
			if !strings.Contains(got, "Failed to connect to server 'first'") || !strings.Contains(got, "server 'second' in toolbox 't' leads back to this workbench") {
				t.Errorf("got %s", got)
			}
		})
	}
}

// By its address, a workbench is known by asking, also if it wants a token that nobody has. Any
// other may be added.
func TestLoopsAreFoundByAsking(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	tokens, err := httpauth.Open(filepath.Join(t.TempDir(), "tokens.json"))
	if err != nil {
		t.Fatal(err)
	}
	listener, at := address(t)
	file := serveFile(t, listener, tokens, "")
	link := filepath.Join(t.TempDir(), "link.json")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	servers := map[string]clients.Server{
		"address":    {Name: "a", URL: at},
		"toolbox":    {Name: "a", URL: at + "/t"},
		"mcp-remote": {Name: "a", Command: "npx", Args: []string{"-y", "mcp-remote", at, "--allow-http"}},
		"bridge":     {Name: "a", Command: "mcp-workbench", Args: []string{"bridge", at}},
	}
	for name, server := range servers {
		if err := RefuseLoops(t.Context(), link, []clients.Server{server}); err == nil || !strings.Contains(tty.Describe(err), string(toolbox.LeadsBack)) {
			t.Errorf("%s: %v", name, err)
		}
		if err := RefuseLoops(t.Context(), other, []clients.Server{server}); err != nil {
			t.Errorf("%s of another configuration: %v", name, err)
		}
	}
	sources := []clients.Source{{Servers: []clients.Server{servers["address"], {Name: "b", URL: "http://127.0.0.1:1/mcp"}, {Name: "c", Command: "c"}}}}
	RemoveLoops(t.Context(), sources, []string{file})
	if got := sources[0]; len(got.Servers) != 2 || len(got.Self) != 1 || got.Self[0] != "a" {
		t.Errorf("%+v", got)
	}
}

func TestIsHere(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1:7420/mcp": true, "http://localhost/mcp": true, "http://[::1]:1/mcp": true, "http://x.localhost:1": true,
		"http://0.0.0.0:7420/mcp": true, "https://mcp.example.com/mcp": false, "http://192.0.2.1/mcp": false, "://": false,
	} {
		if got := isHere(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}
