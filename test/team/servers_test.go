//go:build unix

package team

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// This file is the servers of the team that no package has: one with a state, and one that records all that it is sent.

// counterRole makes this program a server with a state: each call of "count" answers one more than the last.
const counterRole = "counter"

// counted is what "count" answers.
type counted struct {
	PID     int
	Count   int
	Environ []string
}

// count is a server over stdio until its input ends.
func count(in io.Reader, out io.Writer) int {
	calls := 0
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var message struct {
			ID     json.RawMessage
			Method string
			Params struct{ ProtocolVersion string }
		}
		if json.Unmarshal(lines.Bytes(), &message) != nil || len(message.ID) == 0 {
			continue
		}
		var result any
		switch message.Method {
		case "initialize":
			result = map[string]any{"protocolVersion": message.Params.ProtocolVersion, "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "counter", "version": "1"}}
		case "tools/list":
			result = map[string]any{"tools": []any{map[string]any{"name": "count", "description": "Counts", "inputSchema": map[string]any{"type": "object"}}}}
		case "tools/call":
			calls++
			text, _ := json.Marshal(counted{os.Getpid(), calls, os.Environ()}) // of texts and numbers
			result = map[string]any{"content": []any{map[string]any{"type": "text", "text": string(text)}}}
		case "ping":
			result = map[string]any{}
		default:
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`+"\n", message.ID)
			continue
		}
		text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": message.ID, "result": result})
		fmt.Fprintf(out, "%s\n", text)
	}
	return 0
}

// canary is a server over HTTP that records the headers and bodies of all requests, whatever they are for.
type canary struct {
	url string

	mu   sync.Mutex
	seen strings.Builder
}

func startCanary(t *testing.T) *canary {
	t.Helper()
	c := &canary{}
	server, err := mcptest.Parse([]byte(`{"tools": [{"name":"sing","inputSchema":{"type":"object"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	server.Gate = c.record
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() { defer close(over); _ = server.ServeStreamable(listener) }()
	t.Cleanup(func() { listener.Close(); <-over })
	c.url = "http://" + listener.Addr().String()
	return c
}

func (c *canary) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what there is
		r.Body = io.NopCloser(bytes.NewReader(body))
		c.mu.Lock()
		fmt.Fprintf(&c.seen, "%s %s\n", r.Method, r.URL)
		_ = r.Header.Write(&c.seen) // a builder takes all
		fmt.Fprintf(&c.seen, "\n%s\n", body)
		c.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

func (c *canary) recorded() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen.String()
}
