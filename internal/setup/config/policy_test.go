package config

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// policed is a file with a policy on lines of its own, and a toolbox dev with a server files.
func policed(policy string) string {
	return "{\"policy\":\n" + policy + ",\n\"toolboxes\": {\"dev\": {\"description\": \"d\", \"mcpServers\": {\"files\": {\"command\": \"x\"}}}}}"
}

func TestPolicy(t *testing.T) {
	cfg := parse(t, policed(`{"rules": [
  {"tools": "dev/*", "then": "deny", "because": "it is ${WHY}"},
  {
    "then": "deny", "tools": ["*/files/read", "dev/files/${NAME}"]}]}`), "WHY=so", "NAME=write")
	want := []PolicyRule{
		{Tools: []toolbox.Pattern{"dev/*"}, Then: Deny, Because: "it is so", File: "test.json", Line: 3},
		{Tools: []toolbox.Pattern{"*/files/read", "dev/files/write"}, Then: Deny, File: "test.json", Line: 4},
	}
	if diff := cmp.Diff(want, cfg.Policy.Files[0].Rules); diff != "" || len(cfg.Warnings) > 0 {
		t.Errorf("%s\nwarnings %v", diff, cfg.Warnings)
	}
	for _, empty := range []string{`{}`, `{"rules": []}`} {
		if cfg := parse(t, policed(empty)); len(cfg.Policy.Files)+len(cfg.Warnings) > 0 {
			t.Errorf("%s: %v, %v", empty, cfg.Policy, cfg.Warnings)
		}
	}
}

func TestPolicyOfVerdictsHintsAndCallers(t *testing.T) {
	cfg := parse(t, policed(`{"default": "deny", "ask": {"via": ["terminal"], "timeout": "5m"}, "classes": {"dev/files/get*": "reads"}, "rules": [
  {"hints": {"destructive": true, "readOnly": false}, "except": "dev/files/x", "then": "ask"},
  {"callers": "token:ci", "then": "allow"},
  {"callers": ["stdio", "shared", "terminal", "token:a.b_C-1", "person:auth0|5f7c", "certificate:spiffe://example.com/ci"], "tools": "dev/*", "limit": {"calls": "20/1h", "per": "caller"}, "else": "ask"},
  {"tools": "*", "limit": {"calls": "5/1d12h"}},
  {"tools": "*", "arguments": {"secrets": "deny"}, "results": {"secrets": "mask"}}]}`))
	isTrue, isFalse := true, false
	want := Policy{
		Ask: PolicyAsk{Via: []string{"terminal"}, Timeout: 5 * time.Minute},
		Files: []PolicyFile{{Path: "test.json", Default: Deny, Classes: []PolicyClass{{"dev/files/get*", "reads"}}, Rules: []PolicyRule{
			{Hints: PolicyHints{ReadOnly: &isFalse, Destructive: &isTrue}, Except: []toolbox.Pattern{"dev/files/x"}, Then: Ask, File: "test.json", Line: 3},
			{Callers: []string{"token:ci"}, Then: Allow, File: "test.json", Line: 4},
			{
				Callers: []string{"stdio", "shared", "terminal", "token:a.b_C-1", "person:auth0|5f7c", "certificate:spiffe://example.com/ci"}, Tools: []toolbox.Pattern{"dev/*"},
				Limit: &PolicyLimit{20, time.Hour}, Else: Ask, File: "test.json", Line: 5,
			},
			{Tools: []toolbox.Pattern{"*"}, Limit: &PolicyLimit{5, 36 * time.Hour}, Else: Deny, File: "test.json", Line: 6},
			{Tools: []toolbox.Pattern{"*"}, ArgumentSecrets: SecretsDeny, ResultSecrets: SecretsMask, File: "test.json", Line: 7},
		}}},
	}
	if diff := cmp.Diff(want, cfg.Policy); diff != "" || len(cfg.Warnings) > 0 {
		t.Errorf("%s\nwarnings %v", diff, cfg.Warnings)
	}
	for _, policy := range []string{`{"default": "ask"}`, `{"classes": {"dev/*": "reads"}}`} {
		if cfg := parse(t, policed(policy)); len(cfg.Policy.Files) != 1 {
			t.Errorf("%s is no policy", policy)
		}
	}
	if cfg := parse(t, policed(`{"classes": {"dev/*": "sends"}}`)); len(cfg.Warnings) != 1 || !strings.Contains(cfg.Warnings[0].Message, "is 'sends', a class without an effect") {
		t.Errorf("warnings %v", cfg.Warnings)
	}
}

// A mistake in a policy is one of the file, which is not used then: a rule that is not understood must not be ignored.
func TestPolicyProblems(t *testing.T) {
	for _, test := range []struct{ name, policy, want, hint string }{
		{"no object", `5`, "2:1 config.policy: Configuration: 'policy' must be an object (found a number)", "for example:"},
		{"null", `null`, "2:1 config.policy: Configuration: 'policy' must be an object (found null)", "for example:"},
		{"rules are no list", `{"rules": {}}`, "2:11 config.policy.rules: Configuration: 'policy.rules' must be an array (found an object)", "for example:"},
		{"unknown key", `{"rulez": []}`, "2:2 config.policy.rulez: Configuration: unknown key 'policy.rulez'", "did you mean 'rules'?"},
		{"another default", `{"default": "maybe"}`, "2:13 config.policy.default: Configuration: unknown default 'maybe'", "use one of allow, ask, deny"},
		{"rule is no object", `{"rules": ["dev/*"]}`, "2:12 config.policy.rules[0]: Policy rule 1 must be an object (found a string)", "for example:"},
		{"no tools", `{"rules": [{"then": "deny"}]}`, "2:12 config.policy.rules[0]: Policy rule 1 must have a 'tools' field, which is a pattern or a list of patterns, or 'hints' or 'callers'", "for example:"},
		{"no then", `{"rules": [{"tools": "*"}]}`, "2:12 config.policy.rules[0]: Policy rule 1 must have a 'then' field, or 'require', 'limit', 'arguments' or 'results'", "use one of allow, ask, deny"},
		{"another then", `{"rules": [{"tools": "*", "then": "permit"}]}`, "2:35 config.policy.rules[0].then: Policy rule 1: unknown then 'permit'", "use one of allow, ask, deny"},
		{"a then in capitals", `{"rules": [{"tools": "*", "then": "Deny"}]}`, "2:35 config.policy.rules[0].then: Policy rule 1: unknown then 'Deny'", "did you mean 'deny'?"},
		{"a then of another type", `{"rules": [{"tools": "*", "then": true}]}`, "2:35 config.policy.rules[0].then: Policy rule 1: 'then' must be a string (found a boolean)", "use one of"},
		{"tools of another type", `{"rules": [{"tools": 1, "then": "deny"}]}`, "2:22 config.policy.rules[0].tools: Policy rule 1: 'tools' must be a string or an array (found a number)", "for example:"},
		{"a tool of another type", `{"rules": [{"tools": ["*", 1], "then": "deny"}]}`, "2:28 config.policy.rules[0].tools[1]: Policy rule 1: 'tools[1]' must be a string (found a number)", "for example:"},
		{"empty pattern", `{"rules": [{"tools": "", "then": "deny"}]}`, "2:22 config.policy.rules[0].tools: Policy rule 1: 'tools' must not be empty", "for example:"},
		{"no patterns", `{"rules": [{"tools": [], "then": "deny"}]}`, "2:22 config.policy.rules[0].tools: Policy rule 1: 'tools' must not be empty", "for example:"},
		{"lone backslash", `{"rules": [{"tools": "dev/\\", "then": "deny"}]}`, `2:22 config.policy.rules[0].tools: Policy rule 1: 'tools' must not end with '\', which escapes the next character`, "for example:"},
		{"because of another type", `{"rules": [{"tools": "*", "then": "deny", "because": 1}]}`, "2:54 config.policy.rules[0].because: Policy rule 1: 'because' must be a string (found a number)", "for example:"},
		{"unknown key of a rule", `{"rules": [{"tools": "*", "then": "deny"}, {"tools": "*", "then": "deny", "unless": "x"}]}`, "2:75 config.policy.rules[1].unless: Policy rule 2: unknown key 'unless'", "known keys are tools, except"},
		{"then and require", `{"rules": [{"tools": "*", "then": "deny", "require": {"a": {"oneOf": [1]}}}]}`, "2:35 config.policy.rules[0].then: Policy rule 1: 'then' and 'require' cannot be given together", "'require' and 'limit' say what must hold"},
		{"then and limit", `{"rules": [{"tools": "*", "limit": {"calls": "1/1h"}, "then": "deny"}]}`, "2:63 config.policy.rules[0].then: Policy rule 1: 'then' and 'limit' cannot be given together", "'require' and 'limit'"},
		{"else alone", `{"rules": [{"tools": "*", "then": "deny", "else": "ask"}]}`, "2:51 config.policy.rules[0].else: Policy rule 1: 'else' needs a 'require' or a 'limit'", "the verdict of a rule"},
		{"else that allows", `{"rules": [{"tools": "*", "limit": {"calls": "1/1h"}, "else": "allow"}]}`, "2:63 config.policy.rules[0].else: Policy rule 1: unknown else 'allow'", "use one of ask, deny"},
		{"only except", `{"rules": [{"except": "dev/*", "then": "deny"}]}`, "2:12 config.policy.rules[0]: Policy rule 1 must have a 'tools' field, which is a pattern or a list of patterns, or 'hints' or 'callers'", "for example:"},
		{"no hints", `{"rules": [{"hints": {}, "then": "deny"}]}`, "2:22 config.policy.rules[0].hints: Policy rule 1: 'hints' must not be empty", "for example:"},
		{"another hint", `{"rules": [{"hints": {"readonly": true}, "then": "deny"}]}`, "2:23 config.policy.rules[0].hints.readonly: Policy rule 1: unknown key 'hints.readonly'", "did you mean 'readOnly'?"},
		{"a hint of another type", `{"rules": [{"hints": {"readOnly": "true"}, "then": "deny"}]}`, "2:35 config.policy.rules[0].hints.readOnly: Policy rule 1: 'hints.readOnly' must be true or false (found a string)", "for example:"},
		{"no callers", `{"rules": [{"callers": [], "then": "deny"}]}`, "2:24 config.policy.rules[0].callers: Policy rule 1: 'callers' must not be empty", "for example:"},
		{"another caller", `{"rules": [{"callers": ["http"], "then": "deny"}]}`, `2:25 config.policy.rules[0].callers[0]: Policy rule 1: 'callers[0]' must be "stdio", "shared", "terminal", "token:NAME" with the name of a token` + outsiders, "for example:"},
		{"a person without a subject", `{"rules": [{"callers": "person:", "then": "deny"}]}`, `2:24 config.policy.rules[0].callers: Policy rule 1: 'callers' must be "stdio", "shared", "terminal", "token:NAME" with the name of a token` + outsiders, "for example:"},
		{"a certificate with a line break", `{"rules": [{"callers": "certificate:a\nb", "then": "deny"}]}`, `2:24 config.policy.rules[0].callers: Policy rule 1: 'callers' must be "stdio", "shared", "terminal", "token:NAME" with the name of a token` + outsiders, "for example:"},
		{"a token without a name", `{"rules": [{"callers": "token:", "then": "deny"}]}`, `2:24 config.policy.rules[0].callers: Policy rule 1: 'callers' must be "stdio", "shared", "terminal", "token:NAME" with the name of a token` + outsiders, "for example:"},
		{"a rate without a time", `{"rules": [{"tools": "*", "limit": {"calls": "20"}}]}`, `2:46 config.policy.rules[0].limit.calls: Policy rule 1: 'limit.calls' must be a number of calls from 1 to 100000 and a time from 1s to 31d, such as "20/1h" or "5/1d"`, "for example:"},
		{"no rate", `{"rules": [{"tools": "*", "limit": {"calls": "0/1h"}}]}`, `2:46 config.policy.rules[0].limit.calls: Policy rule 1: 'limit.calls' must be a number of calls from 1 to 100000 and a time from 1s to 31d, such as "20/1h" or "5/1d"`, "for example:"},
		{"a limit without calls", `{"rules": [{"tools": "*", "limit": {}}]}`, "2:36 config.policy.rules[0].limit: Policy rule 1 must have a 'limit.calls' string", "for example:"},
		{"a limit of another type", `{"rules": [{"tools": "*", "limit": {"calls": 20}}]}`, "2:46 config.policy.rules[0].limit.calls: Policy rule 1 must have a 'limit.calls' string (found a number)", "for example:"},
		{"another way to ask", `{"ask": {"via": ["phone"]}}`, "2:18 config.policy.ask.via[0]: Configuration: unknown via 'phone'", "for example:"},
		{"no way to ask", `{"ask": {"via": []}}`, "2:17 config.policy.ask.via: Configuration: 'policy.ask.via' must not be empty", "for example:"},
		{"too long to ask", `{"ask": {"timeout": "1h"}}`, `2:21 config.policy.ask.timeout: Configuration: 'policy.ask.timeout' must be a duration from "1s" to "10m"`, "for example:"},
		{"unset variable", `{"rules": [{"tools": "${NOT_SET}", "then": "deny"}]}`, "2:22 config.policy.rules[0].tools: Environment variable expansion failed\nVariable: NOT_SET\nLocation: config.policy.rules[0].tools\nReason: Variable is not set", "export"},
		{"key twice", `{"rules": [{"tools": "*", "then": "deny", "then": "deny"}]}`, "2:43 config.policy.rules[0].then: Duplicate key 'then'", "the key is already used"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("test.json", []byte(policed(test.policy)), options()) // not Strict: it concerns the file
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("the error is %v", err)
			}
			if got := summary(e.Problems); !slices.Equal(got, []string{test.want}) || !strings.HasPrefix(e.Problems[0].Hint, test.hint) {
				t.Errorf("problems %q, hint %q", got, e.Problems[0].Hint)
			}
		})
	}
}

// A key that may be meant as a policy is not ignored, as other unknown keys are.
func TestMistypedPolicy(t *testing.T) {
	for data, want := range map[string]string{
		boxed(`"Policy": {}, `, "t"):   "config.Policy: Configuration: unknown key 'Policy'",
		boxed(`"policies": [], `, "t"): "config.policies: Configuration: unknown key 'policies'",
		boxed(`"polciy": {}, `, "t"):   "config.polciy: Configuration: unknown key 'polciy'",
		`{"toolboxes": {"t": {"policy": {}, "mcpServers": {"s": {"command": "x"}}}}}`: "config.toolboxes.t.policy: Toolbox 't': unknown key 'policy'",
	} {
		_, err := Parse("test.json", []byte(data), options())
		e, ok := errors.AsType[*Error](err)
		if !ok || len(e.Problems) != 1 || !strings.HasSuffix(summary(e.Problems)[0], want) || e.Problems[0].Hint != "did you mean 'policy', at the top of the file?" {
			t.Errorf("%s: %v, want %s", data, err, want)
		}
	}
	for _, key := range []string{"p", "po", "note", "comment", "tools"} {
		if cfg := parse(t, boxed(`"`+key+`": 1, `, "t")); len(cfg.Warnings) != 1 {
			t.Errorf("%s: warnings %v", key, cfg.Warnings)
		}
	}
}

func TestPolicyWarnings(t *testing.T) {
	for _, test := range []struct{ policy, want, hint string }{
		{`"dev/files/*"`, "", ""},
		{`"*/*/delete_*"`, "", ""},
		{`"prod/*"`, "2:22 config.policy.rules[0].tools: Policy rule 1: 'prod/*' matches no toolbox and server that is configured", "a pattern is"},
		{`"dve/files/x"`, "2:22 config.policy.rules[0].tools: Policy rule 1: 'dve/files/x' matches no toolbox and server that is configured", "did you mean 'dev/files/x'?"},
		{`["*", "dev"]`, "2:28 config.policy.rules[0].tools[1]: Policy rule 1: 'dev' matches no toolbox and server that is configured", "for all of it, write 'dev/*'"},
		{`"*/fils/*"`, "2:22 config.policy.rules[0].tools: Policy rule 1: '*/fils/*' matches no toolbox and server that is configured", "a pattern is"},
	} {
		cfg := parse(t, policed(`{"rules": [{"tools": `+test.policy+`, "then": "deny"}]}`))
		got := strings.Join(summary(cfg.Warnings), "\n")
		if got != test.want || got != "" && !strings.HasPrefix(cfg.Warnings[0].Hint, test.hint) {
			t.Errorf("%s: warnings %q, %v", test.policy, got, cfg.Warnings)
		}
	}
	cfg := parse(t, boxed(`"pinned": ["t/s/a", "t/s/b"], "policy": {"rules": [{"tools": "*/a", "then": "deny"}]}, `, "t"))
	if len(cfg.Warnings) != 1 || !strings.Contains(cfg.Warnings[0].Message, "'*/a' denies the tool 't/s/a', which is pinned; it is not offered") {
		t.Errorf("warnings %v", cfg.Warnings)
	}
}

const denyRule = `"policy": {"rules": [{"tools": "%", "then": "deny"}]}, `

func TestPoliciesOfLayersAddUp(t *testing.T) {
	project := boxed(strings.Replace(denyRule, "%", "u/*", 1), "p")
	user := boxed(`"pinned": ["u/s/t"], `+strings.Replace(denyRule, "%", "p/s/x", 1), "u")
	joined, own := layered(t, project, user)
	var rules []string
	for _, file := range joined.Policy.Files {
		for _, rule := range file.Rules {
			rules = append(rules, string(rule.Tools[0])+" "+filepath.Base(filepath.Dir(rule.File)))
		}
	}
	if diff := cmp.Diff([]string{"u/* project", "p/s/x user"}, rules); diff != "" {
		t.Error(diff)
	}
	// What the project's file allows counts for its own toolboxes only.
	if files := joined.Policy.Files; !files[0].Owns("p") || files[0].Owns("u") || !files[1].Owns("p") || !files[1].Owns("u") {
		t.Errorf("own toolboxes %q and %q", files[0].Own, files[1].Own)
	}
	// Each pattern names something of the other file.
	if len(own.Warnings) != 1 || !strings.Contains(own.Warnings[0].Message, "'u/*' denies the tool 'u/s/t', which is pinned") || len(joined.Warnings) != 1 {
		t.Errorf("warnings %v, of both %v", own.Warnings, joined.Warnings)
	}
	for _, empty := range []string{"", `"policy": {}, `, `"policy": {"rules": []}, `} {
		joined, own := layered(t, boxed(empty, "p"), user)
		if len(joined.Policy.Files) != 1 || len(own.Warnings) > 0 {
			t.Errorf("with %s of the project: %v, %v", empty, joined.Policy, own.Warnings)
		}
	}
}

// Of a user's file that cannot be used nobody knows the rules, which may be about the project's tools.
func TestPolicyOfAFileThatCannotBeUsed(t *testing.T) {
	for data, isAssumed := range map[string]bool{
		`{"toolboxes": 5}`:                             false,
		`{"policy": {"rules": 5}}`:                     true,
		`{"policy": {}}`:                               true,
		`{"\u0070olicy": {}}`:                          true,
		`{"Policies": {}}`:                             true,
		`{"${KEY:-other}": 1}`:                         true,
		`{"toolboxes": {"policy": {}}}`:                false,
		"\uFEFF{/* \"policy\": {} */ \"toolMode\": 5}": false,
		// Not even JSON.
		`{"toolboxes": {}`:              false,
		`{"policy": {}, "toolboxes": {`: true,
		`{"\u0070olicy": {}`:            true,
		`{"${KEY}": {}`:                 true,
		"{\"a\": \"\xff\"}":             true,
		`[]`:                            false,
		``:                              false,
	} {
		cfg := Withheld("/user.json", &Source{Data: []byte(data)})
		if got := len(cfg.Policy.Files) > 0; got != isAssumed {
			t.Errorf("%s: a policy is assumed: %t", data, got)
		}
		if isAssumed {
			file := &cfg.Policy.Files[0]
			if _, denied := file.Match(&file.Rules[0], toolbox.Ref{Toolbox: "any", Server: "s", Name: "t"}); !denied {
				t.Errorf("%s: a tool is allowed", data)
			}
		}
	}
	if len(Withheld("/user.json", nil).Policy.Files) == 0 {
		t.Error("a file that was not read allows tools")
	}
}
