package clients

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A client that nobody can answer refuses what it would have to ask about: that is use_tool, and not read_tool.
func TestReadingNeedsNoApproval(t *testing.T) {
	needMode(t)
	for _, test := range []struct {
		name    string
		command func(t *testing.T, i installation) []string
	}{
		// Codex goes by the annotations alone.
		{"codex", func(_ *testing.T, i installation) []string {
			programs, _ := filepath.Glob(i.path("@openai", "codex-"+platform(), "vendor", "*", "bin", "codex"))
			return append(programs, "exec", "--skip-git-repo-check", "--sandbox", "read-only")
		}},
		// Claude Code has rules by name: one allows all reads, and nothing else.
		{"claude-code", func(_ *testing.T, i installation) []string {
			return []string{i.path("@anthropic-ai", "claude-code-"+platform(), "claude"), "--allowedTools=mcp__workbench__read_tool", "-p"}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := agents[slices.IndexFunc(agents, func(a agent) bool { return a.name == test.name })]
			a.command = test.command
			i := need(t, a.name, a.legacy)
			for metaTool, runs := range map[string]bool{"read_tool": true, "use_tool": false} {
				b := newBench(t, object{"autoOpen": true})
				a.question = questionFor(metaTool)
				said := a.run(b, i)
				if strings.Contains(said, sum) != runs || b.starts("calculator") > 0 != runs {
					t.Errorf("%s ran without approval: %t\n%s\n%s", metaTool, !runs, said, b.explain())
				}
			}
		})
	}
}
