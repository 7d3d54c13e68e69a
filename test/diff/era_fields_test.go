package diff

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// This file is the list of what may differ, besides what allowed_test.go lists, between a client
// of one era with a server of the other, through the workbench, and a client of the server's
// own era with it directly. All else is compared: every member, its place, and how numbers and
// strings are written.

// eraFields are members that one of the eras has and the other has not.
var eraFields = []struct {
	in   place
	name string
	why  string
}{
	{inResult, "resultType", "the modern era says of each result of which kind it is"},
	{inResult, "ttlMs", "the modern era says how long lists and resources may be kept"},
	{inResult, "cacheScope", "and by whom"},
	{inMeta, "io.modelcontextprotocol/protocolVersion", "each modern request says its revision, which initialize does in the other era"},
	{inMeta, "io.modelcontextprotocol/clientInfo", "so for the client's name"},
	{inMeta, "io.modelcontextprotocol/clientCapabilities", "so for what it can do"},
	{inMeta, "io.modelcontextprotocol/logLevel", "so for logging/setLevel"},
	{inMeta, "io.modelcontextprotocol/serverInfo", "each modern result says whose it is, which the answer to initialize does in the other era"},
	{inMeta, "io.modelcontextprotocol/subscriptionId", "modern notifications say which request they are for"},
	{inQuestion, "elicitationId", "pages that are to be opened have an id in the legacy era only"},
	{inCapabilities, "tasks", "tasks are a capability in the legacy era, and not the same as the extension of the modern one"},
	{inCapabilities, "extensions", "which is declared here"},
}

// Further differences, which are not members:
//
//  1. The id of the answer: a modern client sends a request again, with another id, to answer a question.
//  2. Results that ask for input: the questions in them are compared with those of the legacy era, but not their names.
//  3. The acknowledgement of subscriptions/listen, and an empty _meta or empty params of a notification or question, which are as good as none.
//  4. Whitespace between tokens, where members were taken out or put in.
//  5. Error -32002 (resource not found) of the legacy era is -32602 in the modern one.

// place is where a member stands.
type place string

const (
	inResult       place = "a result"
	inMeta         place = "any _meta"
	inQuestion     place = "the params of a question"
	inCapabilities place = "the capabilities of the answer to initialize or server/discover"
)

// isEraField reports whether a member, by its name as it is written, may be there or not.
func isEraField(in place, key string) bool {
	var name string
	if json.Unmarshal([]byte(key), &name) != nil {
		return false
	}
	for _, field := range eraFields {
		if field.in == in && field.name == name {
			return true
		}
	}
	return false
}

// withoutEra returns what came in during a step as both eras would have it.
func withoutEra(t *testing.T, e exchange) exchange {
	t.Helper()
	neutral := func(lines []string) (kept []string) {
		for _, text := range lines {
			if text = lineWithoutEra(t, text); text != "" {
				kept = append(kept, text)
			}
		}
		return kept
	}
	kept := exchange{inOrder: neutral(e.inOrder), notes: neutral(e.notes)}
	slices.Sort(kept.notes)
	return kept
}

// lineWithoutEra is withoutEra for one line; "" if nothing is left of it.
func lineWithoutEra(t *testing.T, text string) string {
	t.Helper()
	words, body, isObject := strings.Cut(text, " {")
	switch {
	case strings.HasPrefix(text, roundLine), strings.HasPrefix(text, "note notifications/subscriptions/acknowledged "):
		return ""
	case !isObject:
		return strings.TrimSuffix(text, " null")
	}
	in := place("")
	switch {
	case strings.HasSuffix(words, "with capabilities"):
		words, in = "answer with capabilities", inCapabilities
	case strings.HasPrefix(words, "answer") && strings.HasSuffix(words, " error"):
		words = "answer error"
		body = strings.Replace(body, `"code":-32002`, `"code":-32602`, 1)
	case strings.HasPrefix(words, "answer"):
		words, in = "answer", inResult
	case strings.HasPrefix(words, "question"):
		in = inQuestion
	}
	body = neutral(t, json.RawMessage("{"+body), in)
	if (strings.HasPrefix(words, "note ") || in == inQuestion) && body == "{}" {
		return words
	}
	return words + " " + body
}

// neutral returns a value without the members that belong to an era, and without whitespace
// between tokens. Nothing else changes: not the order, nor how anything is written.
func neutral(t *testing.T, value json.RawMessage, in place) string {
	t.Helper()
	value = bytes.TrimSpace(value)
	switch value[0] {
	case '{':
		var members []string
		for key, member := range membersOf(t, value) {
			if isEraField(in, key) {
				continue
			}
			below := place("")
			if key == `"_meta"` {
				below = inMeta
			}
			text := neutral(t, member, below)
			if below == inMeta && text == "{}" {
				continue
			}
			members = append(members, key+":"+text)
		}
		return "{" + strings.Join(members, ",") + "}"
	case '[':
		var elements []json.RawMessage
		if err := json.Unmarshal(value, &elements); err != nil {
			t.Fatal(err)
		}
		texts := make([]string, len(elements))
		for i, element := range elements {
			texts[i] = neutral(t, element, "")
		}
		return "[" + strings.Join(texts, ",") + "]"
	}
	return string(value)
}

// The comparison must see what it is there for.
func TestWhatIsLeftWithoutTheFieldsOfAnEra(t *testing.T) {
	for _, test := range []struct{ name, given, want string }{
		{"a result", `answer to 1 {"resultType":"complete", "content":[ 1.0 ],"ttlMs":1}`, `answer {"content":[1.0]}`},
		{"not below", `answer to 1 {"a":{"resultType":"complete"}}`, `answer {"a":{"resultType":"complete"}}`},
		{"_meta anywhere", `answer to 1 {"p":{"_meta":{"x":1e0,"io.modelcontextprotocol\/logLevel":"info"}},"_meta":{"io.modelcontextprotocol/serverInfo":{}}}`, `answer {"p":{"_meta":{"x":1e0}}}`},
		{"an error", `answer to "a" error {"code":-32002,"message":"\u0061"}`, `answer error {"code":-32602,"message":"\u0061"}`},
		{"a round", `round to 1 {"resultType":"input_required"}`, ``},
		{"a question", `question elicitation/create {"elicitationId":"e","b":1,"a":2}`, `question elicitation/create {"b":1,"a":2}`},
		{"a note", `note x/list_changed {"_meta":{"io.modelcontextprotocol/subscriptionId":1}}`, `note x/list_changed`},
		{"a note without params", `note x/list_changed null`, `note x/list_changed`},
		{"an element", `tools {"name":"x", "ttlMs":1}`, `tools {"name":"x","ttlMs":1}`},
	} {
		if got := lineWithoutEra(t, test.given); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// The page that explains the list must not fall behind it.
func TestEraFieldsAreExplained(t *testing.T) {
	const page = "../../docs/conformance.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range eraFields {
		if !strings.Contains(string(text), "`"+field.name+"`") {
			t.Errorf("%s does not say that '%s' may differ", page, field.name)
		}
	}
}
