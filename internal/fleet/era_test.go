package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// A server is spoken to in the era of its client if it can be; what it can is asked once.
func TestServersAreSpokenToInTheErasOfTheirClients(t *testing.T) {
	for _, test := range []struct {
		name, spec           string
		forLegacy, forModern bool // the session is a modern one
		probes               int  // at most
	}{
		{name: "both", spec: `{"era":"both"}`, forModern: true, probes: 2},
		{name: "legacy", spec: `{"on":{"server/discover":[]}}`, probes: 1},
		{name: "modern", spec: `{"era":"modern"}`, forLegacy: true, forModern: true, probes: 2},
		{
			name: "settled by its first request", forModern: true, probes: 2,
			spec: `{"era":"both","on":{"initialize":[{"starts":1,"error":{"code":-32600,"message":"settled"}}]}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, map[string]string{"S": test.spec}, nil, Options{})
			server := r.server(t, "S")
			modern := NewParty(PartyOptions{Modern: true, Notice: func(*Server, wire.Message) {}})
			t.Cleanup(modern.Close)
			if server.For(modern) == server {
				t.Error("clients of both eras share a session")
			}
			for i, want := range []bool{test.forLegacy, test.forModern} {
				party := []*Party{nil, modern}[i]
				lease, err := server.For(party).Lease(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if got := lease.Session.Modern(); got != want {
					t.Errorf("modern client %t: modern session %t", party.Modern(), got)
				}
				lease.Release()
			}
			log, err := os.ReadFile(filepath.Join(r.folder, "S.log"))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(string(log), `"method":"server/discover"`); got > test.probes {
				t.Errorf("it was asked for its eras %d times, want at most %d", got, test.probes)
			}
		})
	}
}
