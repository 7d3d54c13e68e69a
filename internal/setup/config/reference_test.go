package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// chapter is an object of the file in the reference.
type chapter struct {
	title, introduction string
	object              *object
}

// makeReference writes docs/configuration.md: what is written by hand, and a table of the keys
// of each object.
func makeReference(t *testing.T) string {
	t.Helper()
	head, err := os.ReadFile(filepath.Join("testdata", "reference.md"))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	out.WriteString(strings.ReplaceAll(string(head), "\r\n", "\n"))
	for _, c := range []chapter{
		{"The file", "At the top of the file.", &rootObject},
		{"A toolbox", "An entry of `toolboxes`.", &toolboxObject},
		{"A server", "An entry of `mcpServers`. It has exactly one of " + alternatives(&serverObject) + ".", &serverObject},
		{"`oauth`", "In a server with a `url`; [login.md](login.md) has more about it.", &oauthObject},
		{"`oauth.identityProvider`", "In `oauth`.", &identityProviderObject},
		{"`timeouts`", "At the top, in a toolbox or in a server.", &timeoutsObject},
		{"`sandbox`", "At the top or in a server; [sandbox.md](sandbox.md) has more about it.", &sandboxObject},
		{"`limits`", "In a server; [running.md](running.md#limits-of-memory) has more about it.", &serverLimitsObject},
		{"`results`", "At the top.", &resultsObject},
		{"`policy`", "At the top; [policy.md](policy.md) has more about it.", &policyObject},
		{"`policy.ask`", "In `policy`.", &policyAskObject},
		{"A rule of the policy", "An element of `policy.rules`.", &policyRuleObject},
		{"`hints`", "In a rule of the policy.", &policyHintsObject},
		{"A requirement", "An entry of `require` in a rule of the policy.", &conditionObject},
		{"`limit`", "In a rule of the policy.", &policyLimitObject},
		{"`arguments` and `results`", "In a rule of the policy.", &policySecretsObject},
		{"`elicitation`", "At the top; [questions.md](questions.md) has more about it.", &elicitationObject},
		{"`http`", "At the top; [http.md](http.md) has more about it.", &httpObject},
		{"`http.tls`", "In `http`.", &tlsObject},
		{"`http.oauth`", "In `http`; [team.md](team.md) has more about it. An unknown key in it is an error.", &httpOAuthObject},
		{"`http.oauth.introspection`", "In `http.oauth`.", &introspectionObject},
		{"`http.limits`", "In `http`.", &personLimitsObject},
		{"`credentials`", "At the top; [security.md](security.md) has more about it.", &credentialsObject},
		{"`history`", "At the top; [history.md](history.md) has more about it.", &historyObject},
		{"`audit`", "At the top; [audit.md](audit.md) has more about it.", &auditObject},
	} {
		fmt.Fprintf(&out, "\n## %s\n\n%s\n\n| key | type | default | meaning | example |\n| --- | --- | --- | --- | --- |\n", c.title, c.introduction)
		for i := range c.object.keys {
			out.WriteString(row(&c.object.keys[i]))
		}
	}
	out.WriteString(projectChapter)
	for _, rule := range projectRules {
		fmt.Fprintf(&out, "| %s | %s |\n", code(rule.key), rule.counts)
	}
	return out.String()
}

const projectChapter = `
## A project's file

In the ` + "`workbench-config.json`" + ` of a working folder, where you have a file of your own: ` + "`toolboxes`" + ` are added to yours. These keys
count where they are stricter than yours; all others at the top are yours alone, and a warning names those that are set.
In a toolbox or a server, every key counts; the ` + "`sandbox`" + ` of a server only tightens the one at the top of your file.

| key | counts |
| --- | --- |
`

func alternatives(o *object) string {
	last := len(o.oneOf) - 1
	return "`" + strings.Join(o.oneOf[:last], "`, `") + "` and `" + o.oneOf[last] + "`"
}

func row(k *key) string {
	cells := []string{code(k.name), types(k), "", k.description, code(fmt.Sprintf("%q: %s", k.name, exampleOf(k)))}
	switch {
	case k.required != "":
		cells[2] = "required"
	case k.fallback != "":
		cells[2] = code(k.fallback)
	}
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func code(text string) string { return "`" + text + "`" }

// types says what may stand there, in words.
func types(k *key) string {
	if k.enum != nil {
		words := make([]string, len(k.enum))
		for i, word := range k.enum {
			words[i] = code(fmt.Sprintf("%q", word))
		}
		if slices.Contains(k.kinds, kindArray) {
			return "list of " + strings.Join(words, ", ")
		}
		return strings.Join(words, ", ")
	}
	var texts []string
	for _, kind := range k.kinds {
		switch {
		case kind == kindArray && k.members != nil:
			texts = append(texts, "list of objects")
		case kind == kindArray:
			texts = append(texts, "list of strings")
		case k.entries != nil && k.entries.lists:
			texts = append(texts, "object of lists of strings")
		case k.entries != nil && k.entries.object == nil:
			texts = append(texts, "object of strings")
		case kind == kindInteger:
			texts = append(texts, "number")
		default:
			texts = append(texts, string(kind))
		}
	}
	return strings.Join(texts, " or ")
}

// exampleOf is the key's own, or what can be made up.
func exampleOf(k *key) string {
	switch {
	case k.example != "":
		return k.example
	case k.enum != nil:
		return fmt.Sprintf("%q", k.enum[len(k.enum)-1])
	case k.fallback == "true":
		return "false"
	case k.fallback == "false":
		return "true"
	}
	return ""
}

func TestReference(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "configuration.md")
	made := makeReference(t)
	if *update {
		if err := os.WriteFile(path, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	there, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(there), "\r\n", "\n"), made); diff != "" {
		t.Errorf("docs/configuration.md is not up to date; run the test with -update (-there +made):\n%s", diff)
	}
}

func TestReferenceHasAllKeys(t *testing.T) {
	made := makeReference(t)
	var visit func(o *object)
	visit = func(o *object) {
		for i := range o.keys {
			k := &o.keys[i]
			if !strings.Contains(made, row(k)) {
				t.Errorf("%q is not in the reference", k.name)
			}
			if !json.Valid([]byte(exampleOf(k))) {
				t.Errorf("%q has no example", k.name)
			}
			if k.members != nil {
				visit(k.members)
			}
			if k.entries != nil && k.entries.object != nil {
				visit(k.entries.object)
			}
		}
	}
	visit(&rootObject)
}

func TestExampleOfReferenceIsValid(t *testing.T) {
	_, rest, _ := strings.Cut(makeReference(t), "```jsonc\n")
	example, _, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatal("there is no example")
	}
	cfg, err := Parse("example.json", []byte(example), ParseOptions{Lookup: func(name string) (string, bool) { return "/home/me", name == "HOME" }})
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Warnings) > 0 {
		t.Errorf("it has warnings: %v", cfg.Warnings)
	}
}
