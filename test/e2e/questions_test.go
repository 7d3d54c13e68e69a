package e2e

import (
	"slices"
	"strings"
	"testing"
)

// What npm's server asks in the middle of a call reaches the TypeScript client behind
// use_tool, and the answers get back; so do resources, prompts and completion.
func TestTypeScriptClientIsAsked(t *testing.T) { eachAbove(t, typeScriptClientIsAsked) }

func typeScriptClientIsAsked(t *testing.T, overHTTP bool) {
	b := newBench(t, "", box{"all", "One server", []server{everythingServer(t)}})
	b.overHTTP = overHTTP
	lines := runScript(t, b, "questions.mjs", "proxy")
	for step, want := range map[string]string{
		"sampling":    "a sample of ours",
		"elicitation": "declined",
		"roots":       "file:///ours",
		"resource":    "the one that was listed",
		"prompt":      "simple prompt",
	} {
		if text := lines[step].Text; !strings.Contains(text, want) {
			t.Errorf("%s: %q, want something with %q", step, text, want)
		}
	}
	asked := lines["asked"].Servers
	if len(asked) != 2 || !strings.Contains(asked[0], "say it") || asked[1] == "form: 0" {
		t.Errorf("the client was asked %q", asked)
	}
	if prompts := lines["prompts"].Tools; !slices.Contains(prompts, "simple-prompt") || !slices.Contains(prompts, "completable-prompt") {
		t.Errorf("prompts: %v", prompts)
	}
	if values := lines["completion"].Tools; !slices.Contains(values, "Engineering") {
		t.Errorf("completion: %v", values)
	}
}
