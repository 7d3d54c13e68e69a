package diff

import (
	"strings"
	"testing"
	"time"
)

// A server that asks for what the client lacks breaks the rules, and gets an error. What the
// client would have answered does not matter: it must not see the question.
func TestAClientIsNotAskedForWhatItLacks(t *testing.T) {
	const (
		sampling = `{"messages":[],"maxTokens":1}`
		tools    = `{"messages":[],"maxTokens":1,"tools":[],"toolChoice":{"mode":"auto"}}`
		form     = `{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}}}`
		url      = `{"mode":"url","url":"https://example.com","elicitationId":"1","message":"m"}`
	)
	tests := []struct {
		name, capabilities, method, params string
		asked                              bool
		pending                            string // why it is not so yet
	}{
		{"roots", `{}`, "roots/list", ``, false, ""},
		{"sampling", `{"roots":{}}`, "sampling/createMessage", sampling, false, ""},
		{"elicitation", `{"sampling":{}}`, "elicitation/create", form, false, ""},
		{"sampling with tools", `{"sampling":{}}`, "sampling/createMessage", tools, false, ""},
		{"sampling with tools that it can", `{"sampling":{"tools":{}}}`, "sampling/createMessage", tools, true, ""},
		{"a URL", `{"elicitation":{}}`, "elicitation/create", url, false, ""},
		{"a URL of a client with forms", `{"elicitation":{"form":{}}}`, "elicitation/create", url, false, ""},
		{"a form, without a word about modes", `{"elicitation":{}}`, "elicitation/create", form, true, ""},
		{"a form of a client with URLs only", `{"elicitation":{"url":{}}}`, "elicitation/create", form, false, ""},
		{"roots that it has", `{"roots":{"listChanged":false}}`, "roots/list", ``, true, ""},
	}
	for _, r := range routes[:1] {
		for _, test := range tests {
			t.Run(test.name+", "+r.name, func(t *testing.T) {
				t.Parallel()
				steps := append(hello(newest, test.capabilities),
					step{name: "list tools", method: "tools/list", list: "tools"},
					call("told", "told", `{}`),
					ask("question", test.method, test.params, reply{body: `"result":{"seen":true}`}))
				got := session(t, r.dial(t), oddIDs, steps, func(step) time.Duration { return patience })
				if told := got["told"].describe(); !strings.HasSuffix(told, `"capabilities":`+test.capabilities+`}`) {
					t.Errorf("the server was not told the client's capabilities %s: %s", test.capabilities, told)
				}
				seen := got["question"].describe()
				if test.pending != "" {
					t.Skipf("%s: %s", test.pending, seen)
				}
				if asked := strings.Contains(seen, `{"result":{"seen":true}}`); asked != test.asked {
					t.Errorf("the client was asked: %v, want %v: %s", asked, test.asked, seen)
				}
				if !test.asked && (strings.Contains(seen, "question ") || !strings.Contains(seen, `"answer":{"error":{"code":-3`)) {
					t.Errorf("the server did not get an error in the client's place: %s", seen)
				}
			})
		}
	}
}
