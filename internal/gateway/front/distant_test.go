package front

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// TestDistantClients: a client that may be on another machine is not asked to open pages of this one, in either era.
func TestDistantClients(t *testing.T) {
	for _, test := range []struct {
		address string
		header  string
		distant bool
	}{
		{"127.0.0.1:1", "", false},
		{"[::1]:1", "", false},
		{"[::ffff:127.0.0.1]:1", "", false},
		{"192.0.2.1:1", "", true},
		{"10.0.0.1:1", "", true},
		{"", "", true}, // a socket in the file system
		{"127.0.0.1:1", "X-Forwarded-For", true},
		{"127.0.0.1:1", "Forwarded", true},
		{"127.0.0.1:1", "X-Real-IP", true},
		{"127.0.0.1:1", "Via", true},
	} {
		h := newServer(Options{}).newHTTPServer(HTTPOptions{})
		send := func(body string, headers ...string) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(body))
			r.RemoteAddr = test.address
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if test.header != "" {
				r.Header.Set(test.header, "192.0.2.1")
			}
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
			h.route(httptest.NewRecorder(), r)
		}
		send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"url":{}}},"clientInfo":{"name":"c","version":"1"}}}`)
		send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"url":{}}}}}}`,
			"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
		var profiles []*fleet.ClientProfile
		for _, client := range h.sessions.all() {
			profiles = append(profiles, client.Profile())
			h.dropSession(client)
		}
		for _, client := range h.statelessClients.all() {
			profiles = append(profiles, client.Profile())
			client.drop()
		}
		if len(profiles) != 2 {
			t.Fatalf("there are %d clients", len(profiles))
		}
		for _, profile := range profiles {
			if profile.OpensPages() == test.distant {
				t.Errorf("%s %s: modern %t opens pages: %t", test.address, test.header, profile.Modern(), profile.OpensPages())
			}
		}
	}
}
