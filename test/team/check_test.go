//go:build unix

package team

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// 'serve --check' goes through the steps, and fails if the provider is not there.
func TestCheck(t *testing.T) {
	m := newTeam(t)
	idp := startIDP(t, map[string]any{"groups": groups})
	m.configure(map[string]any{"issuer": idp.issuer}, nil)
	if out, err := m.command("serve", "--check").CombinedOutput(); err != nil || !strings.Contains(string(out), idp.issuer) {
		t.Errorf("serve --check: %v\n%s", err, out)
	}
	away, err := mcptest.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	m.configure(map[string]any{"issuer": "http://" + away}, nil)
	if out, err := m.command("serve", "--check").CombinedOutput(); err == nil || !strings.Contains(string(out), away) {
		t.Errorf("serve --check without a provider: %v\n%s", err, out)
	}
}
