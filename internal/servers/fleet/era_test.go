package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// A server is addressed in the era of its client if it can be; what it can is asked once.
func TestServersAreSpokenToInTheErasOfTheirClients(t *testing.T) {
	for _, test := range []struct {
		name, spec           string
		forLegacy, forModern bool // the session is a modern one
		probes               int  // at most
	}{
		{name: "both", spec: `{"era":"both"}`, forModern: true, probes: 2},
		{name: "both, but lists one", spec: `{"era":"both","unlisted":true}`, forModern: true, probes: 2},
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
			modern := NewClientProfile(ProfileOptions{Modern: true, Notice: func(*Server, wire.Message) {}})
			t.Cleanup(modern.Close)
			if server.For(modern) == server {
				t.Error("clients of both eras share a session")
			}
			for i, want := range []bool{test.forLegacy, test.forModern} {
				profile := []*ClientProfile{nil, modern}[i]
				lease, err := server.For(profile).Lease(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if got := lease.Session.Modern(); got != want {
					t.Errorf("modern client %t: modern session %t", profile.Modern(), got)
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

// A client that can be asked gets a session in which the server can ask it, whoever used the
// server before, and with one start for each session.
func TestServersThatSettleCanAskLegacyClients(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{"era":"both","unlisted":true,"settles":true}`}, nil, Options{})
	server := r.server(t, "S")
	for i, test := range []struct {
		name    string
		options ProfileOptions
		modern  bool
	}{
		{"legacy, cannot be asked", ProfileOptions{}, true}, // it was settled by the probe, and nothing is lost
		{"legacy", ProfileOptions{Capabilities: []byte(`{"elicitation":{}}`)}, false},
		{"modern", ProfileOptions{Modern: true}, true},
		{"legacy, with other questions", ProfileOptions{Capabilities: []byte(`{"sampling":{}}`)}, false},
	} {
		test.options.Notice = func(*Server, wire.Message) {}
		profile := NewClientProfile(test.options)
		t.Cleanup(profile.Close)
		lease, err := server.For(profile).Lease(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if lease.Session.Modern() != test.modern {
			t.Errorf("%s: modern session %t", test.name, lease.Session.Modern())
		}
		lease.Release()
		if starts := r.starts(t, "S"); starts != i+1 {
			t.Errorf("%s: %d starts, want %d", test.name, starts, i+1)
		}
	}
}

// That a server refuses initialize is remembered while the workbench runs.
func TestRefusedInitializeIsRemembered(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{"era":"modern","calls":{"crash":[{"exit":7}]}}`}, nil, Options{})
	server := r.server(t, "S")
	profile := NewClientProfile(ProfileOptions{Capabilities: []byte(`{"elicitation":{}}`), Notice: func(*Server, wire.Message) {}})
	t.Cleanup(profile.Close)
	variant := server.For(profile)
	for _, tool := range []string{"echo", "crash", "echo"} {
		if err := call(t.Context(), variant, tool); (err != nil) != (tool == "crash") {
			t.Fatalf("the call of %s: %v", tool, err)
		}
	}
	log, err := os.ReadFile(filepath.Join(r.folder, "S.log"))
	if err != nil {
		t.Fatal(err)
	}
	if got, starts := strings.Count(string(log), `"method":"initialize"`), r.starts(t, "S"); got != 1 || starts != 2 {
		t.Errorf("initialize was sent %d times in %d starts, want 1 and 2", got, starts)
	}
}
