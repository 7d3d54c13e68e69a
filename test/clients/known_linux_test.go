package clients

import (
	"slices"
	"strings"
	"testing"
)

// What a server has that was seen once before is offered by clients, in both eras and without an opened
// toolbox: prompts as commands, resources to be read. Only what is used starts its server.
func TestPromptsAndResources(t *testing.T) {
	needMode(t)
	for _, use := range []struct{ client, what, question, answer string }{
		{"claude-code", "prompt", "/mcp__workbench__summarize", ""},
		{"claude-code-legacy", "prompt", "/mcp__workbench__summarize", ""},
		{"claude-code-legacy", "resource", "Read " + note, noted},
		{"codex", "resource", "Read " + note, noted},
	} {
		t.Run(use.client+"-"+use.what, func(t *testing.T) {
			a := agents[slices.IndexFunc(agents, func(a agent) bool { return a.name == use.client })]
			i := need(t, a.name, a.legacy)
			b := newBench(t, nil)
			b.run(nil, b.workbench(), "tools", "notes")
			before := b.starts("notes")
			a.question = use.question
			if said := a.run(b, i); !strings.Contains(said, use.answer) {
				t.Errorf("the client did not show the resource:\n%s", said)
			}
			if use.answer == "" && !b.model.told(prompted) {
				t.Error("the model did not get what the prompt says")
			}
			if n := b.starts("notes"); n != before+1 {
				t.Errorf("the server notes was started %d times, and %d times before", n, before)
			}
			if n := b.starts("stuck"); n != 0 {
				t.Errorf("the server stuck was started %d times, and nobody needed it", n)
			}
			for _, s := range sessions(t, b.bin) {
				s.allAnswered(t)
			}
			if t.Failed() {
				t.Log(b.explain())
			}
		})
	}
}
