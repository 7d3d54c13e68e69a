package load

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// This file runs the workbench and the servers below it.

// spec is a server that says something before each answer. The answer is the arguments.
const spec = `{"tools": [{"name":"echo","inputSchema":{"type":"object"}}],
 "calls": {"echo": [{"progress": {"progress":1}}]}}`

// servers are what is called, one after the other.
var servers = []string{"lines", "web"}

// serve starts a workbench with a server over stdio and one over HTTP.
func serve(t *testing.T) *released.Workbench {
	t.Helper()
	dir := t.TempDir()
	return released.Serve(t, dir, configure(t, dir))
}

// configure returns the configuration of a workbench with these servers.
func configure(t *testing.T, dir string) map[string]any {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "fake.json"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]any{"toolboxes": map[string]any{"box": map[string]any{"mcpServers": map[string]any{
		"lines": map[string]any{"command": mcptest.Self(), "args": mcptest.RoleArgs(mcptest.FakeServer, filepath.Join(dir, "fake.json"))},
		"web":   map[string]any{"url": webServer(t)},
	}}}}
}

// webServer is the server over HTTP, in this process; it returns its address.
func webServer(t *testing.T) string {
	t.Helper()
	server, err := mcptest.Parse([]byte(spec))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() { defer close(over); _ = server.ServeStreamable(listener) }()
	t.Cleanup(func() { listener.Close(); <-over })
	return fmt.Sprintf("http://%s/mcp", listener.Addr())
}
