package front

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
)

// endedSessions remembers the sessions that ended.
type endedSessions struct {
	mu  sync.Mutex
	all []string
}

func (e *endedSessions) add(overHTTP bool, revision protocol.Revision, after time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, fmt.Sprintf("over HTTP: %t, %s, took time: %t", overHTTP, revision, after > 0))
}

func (e *endedSessions) read() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.all)
}

func TestEndsOfSessionsAreTold(t *testing.T) {
	var ended endedSessions
	server := newServer(Options{SessionEnded: ended.add})
	address, _ := listen(t, server, HTTPOptions{})

	// One over stdio, which initializes twice, and one that never does.
	c, stop := client(t, server)
	for range 2 {
		next(t, c, fmt.Sprintf(initialize, protocol.Revision20250618))
	}
	if got := ended.read(); len(got) > 0 {
		t.Errorf("already ended: %q", got)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	_, stop = client(t, server)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	want := []string{"over HTTP: false, 2025-06-18, took time: true"}
	if got := ended.read(); !slices.Equal(got, want) {
		t.Errorf("over stdio: %q", got)
	}

	// Over HTTP a client ends its session. A request of the modern era has none.
	session := join(t, address+"/mcp")
	exchangeWith(t, "POST", address+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: server/discover")
	if response, _ := exchangeWith(t, "DELETE", address+"/mcp", "", session); response.StatusCode != http.StatusNoContent {
		t.Fatal(response.Status)
	}
	want = append(want, "over HTTP: true, 2025-11-25, took time: true")
	for deadline := time.Now().Add(10 * time.Second); len(ended.read()) < len(want) && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if got := ended.read(); !slices.Equal(got, want) {
		t.Errorf("over HTTP: %q", got)
	}
}
