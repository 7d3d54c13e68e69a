package config

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// requiring is a file with one rule that requires something, on line 2.
func requiring(require string) string {
	return policed(`{"rules": [{"tools": "dev/*", "require": ` + require + `}]}`)
}

func TestConditions(t *testing.T) {
	cfg := parse(t, requiring(`{
		"path": {"within": ["~/project", "sub", "/abs/${NAME}"]}, "root": {"within": "/"},
		"url": {"hosts": ["*.example.com", "[::1]:${PORT}"]}, "link": {"hosts": "example.com"},
		"sql": {"sql": "read"}, "name": {"matches": "[a-z]+"}, "env": {"oneOf": ["a\"b", 1.50, true, null]}, "options.count": {"atMost": 1e2}
	}`), "NAME=x", "PORT=8080")
	if len(cfg.Warnings) > 0 {
		t.Errorf("warnings %v", cfg.Warnings)
	}
	rule := cfg.Policy.Files[0].Rules[0]
	if rule.Else != Deny || rule.Then != 0 {
		t.Errorf("verdicts %v, %v", rule.Then, rule.Else)
	}
	opts := options()
	for _, test := range []struct {
		argument, arguments string
		want                string // a part of the reason; "": holds
	}{
		{"path", `{"path": "` + filepath.Join(opts.Home, "project", "x") + `"}`, ""},
		{"path", `{"path": "` + filepath.Join(opts.Dir, "sub") + `"}`, ""},
		{"path", `{"path": "/abs/x/y"}`, ""},
		{"path", `{"path": "/abs/y"}`, "must be within "},
		{"root", `{"root": "/anything"}`, ""},
		{"url", `{"url": "https://a.example.com/"}`, ""},
		{"url", `{"url": "http://[::1]:8080/"}`, ""},
		{"url", `{"url": "http://[::1]/"}`, "must be an http address at *.example.com or [::1]:8080: '::1' is another host"},
		{"link", `{"link": "http://example.com/"}`, ""},
		{"sql", `{"sql": "select 1"}`, ""},
		{"sql", `{"sql": "drop table t"}`, "DROP may write"},
		{"name", `{"name": "abc"}`, ""},
		{"name", `{"name": "abc1"}`, "must match [a-z]+: it does not"},
		{"env", `{"env": "a\"b"}`, ""},
		{"env", `{"env": 1.5}`, ""},
		{"env", `{"env": true}`, ""},
		{"env", `{"env": null}`, ""},
		{"env", `{"env": "true"}`, `must be "a\"b", 1.50, true or null: it is another value`},
		{"options.count", `{"options": {"count": 100}}`, ""},
		{"options.count", `{"options": {"count": 100.1}}`, "must be at most 1e2: it is larger"},
	} {
		found := false
		for _, requirement := range rule.Require {
			if requirement.Argument != test.argument {
				continue
			}
			found = true
			got := requirement.Unmet(wire.Raw([]byte(test.arguments)), "")
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("%s: %q, want %q", test.arguments, got, test.want)
			}
		}
		if !found {
			t.Errorf("nothing is required of %s", test.argument)
		}
	}
	if len(rule.Require) != 8 {
		t.Errorf("%d requirements", len(rule.Require))
	}
}

// A condition that is not understood must not hold for everything.
func TestConditionProblems(t *testing.T) {
	for _, test := range []struct{ name, require, want string }{
		{"no object", `5`, "2:42 config.policy.rules[0].require: Policy rule 1: 'require' must be an object (found a number)"},
		{"empty", `{}`, "2:42 config.policy.rules[0].require: Policy rule 1: 'require' must not be empty"},
		{"empty name", `{"": {"sql": "read"}}`, "2:43 config.policy.rules[0].require[\"\"]: Policy rule 1: requirement must name an argument, such as \"path\", or \"options.path\" for one inside of another"},
		{"empty part of a name", `{"a..b": {"sql": "read"}}`, "2:43 config.policy.rules[0].require[\"a..b\"]: Policy rule 1: requirement must name an argument, such as \"path\", or \"options.path\" for one inside of another"},
		{"condition is no object", `{"a": "x"}`, "2:48 config.policy.rules[0].require.a: Requirement 'a' in policy rule 1 must be an object (found a string)"},
		{"empty condition", `{"a": {}}`, "2:48 config.policy.rules[0].require.a: Policy rule 1: 'require.a' must not be empty"},
		{"unknown condition", `{"a": {"inside": "/x"}}`, "2:49 config.policy.rules[0].require.a.inside: Requirement 'a' in policy rule 1: unknown key 'inside'"},
		{"other case", `{"a": {"oneof": [1]}}`, "2:49 config.policy.rules[0].require.a.oneof: Requirement 'a' in policy rule 1: unknown key 'oneof'"},
		{"within a number", `{"a": {"within": 5}}`, "2:59 config.policy.rules[0].require.a.within: Requirement 'a' in policy rule 1: 'within' must be a string or an array (found a number)"},
		{"within nothing", `{"a": {"within": []}}`, "2:59 config.policy.rules[0].require.a.within: Policy rule 1: 'require.a.within' must not be empty"},
		{"within an empty text", `{"a": {"within": ["/x", ""]}}`, "2:66 config.policy.rules[0].require.a.within[1]: Requirement 'a' in policy rule 1: 'within[1]' must not be empty"},
		{"within a list in a list", `{"a": {"within": [["/x"]]}}`, "2:60 config.policy.rules[0].require.a.within[0]: Requirement 'a' in policy rule 1: 'within[0]' must be a string (found an array)"},
		{"within an unset variable", `{"a": {"within": "${NOT_SET}"}}`, "2:59 config.policy.rules[0].require.a.within: Environment variable expansion failed\nVariable: NOT_SET\nLocation: config.policy.rules[0].require.a.within\nReason: Variable is not set"},
		{"no hosts", `{"a": {"hosts": []}}`, "2:58 config.policy.rules[0].require.a.hosts: Policy rule 1: 'require.a.hosts' must not be empty"},
		{"an address for a host", `{"a": {"hosts": ["b.test", "https://a.test/"]}}`, "2:69 config.policy.rules[0].require.a.hosts[1]: Requirement 'a' in policy rule 1: 'hosts[1]' is not a host: it must be only the host and maybe a port, such as \"example.com\" or \"example.com:8080\""},
		{"a star for a host", `{"a": {"hosts": "*"}}`, "2:58 config.policy.rules[0].require.a.hosts: Requirement 'a' in policy rule 1: 'hosts' is not a host: a \"*\" can only stand for all that is before a dot, as in \"*.example.com\""},
		{"a port for a host", `{"a": {"hosts": "a.test:http"}}`, "2:58 config.policy.rules[0].require.a.hosts: Requirement 'a' in policy rule 1: 'hosts' is not a host: the port must be a number from 1 to 65535"},
		{"a number for a host", `{"a": {"hosts": 127}}`, "2:58 config.policy.rules[0].require.a.hosts: Requirement 'a' in policy rule 1: 'hosts' must be a string or an array (found a number)"},
		{"half an address", `{"a": {"hosts": "127.1"}}`, "2:58 config.policy.rules[0].require.a.hosts: Requirement 'a' in policy rule 1: 'hosts' is not a host: it ends like a number; an IPv4 address has four decimal ones"},
		{"sql writes", `{"a": {"sql": "write"}}`, "2:56 config.policy.rules[0].require.a.sql: Requirement 'a' in policy rule 1: unknown sql 'write'"},
		{"sql is true", `{"a": {"sql": true}}`, "2:56 config.policy.rules[0].require.a.sql: Requirement 'a' in policy rule 1: 'sql' must be a string (found a boolean)"},
		{"wrong pattern", `{"a": {"matches": "("}}`, "2:60 config.policy.rules[0].require.a.matches: Requirement 'a' in policy rule 1: 'matches' is not a regular expression (RE2): error parsing regexp: missing closing ): `(`"},
		{"pattern looks behind", `{"a": {"matches": "(?<=a)b"}}`, "2:60 config.policy.rules[0].require.a.matches: Requirement 'a' in policy rule 1: 'matches' is not a regular expression (RE2): error parsing regexp: invalid named capture: `(?<=a)b`"},
		{"pattern closes a group", `{"a": {"matches": "a)|(b"}}`, "2:60 config.policy.rules[0].require.a.matches: Requirement 'a' in policy rule 1: 'matches' is not a regular expression (RE2): error parsing regexp: unexpected ): `a)|(b`"},
		{"pattern is a list", `{"a": {"matches": ["a"]}}`, "2:60 config.policy.rules[0].require.a.matches: Requirement 'a' in policy rule 1: 'matches' must be a string (found an array)"},
		{"one of nothing", `{"a": {"oneOf": []}}`, "2:58 config.policy.rules[0].require.a.oneOf: Policy rule 1: 'require.a.oneOf' must not be empty"},
		{"one of a text", `{"a": {"oneOf": "x"}}`, "2:58 config.policy.rules[0].require.a.oneOf: Requirement 'a' in policy rule 1: 'oneOf' must be an array (found a string)"},
		{"one of objects", `{"a": {"oneOf": [{}]}}`, "2:59 config.policy.rules[0].require.a.oneOf[0]: Requirement 'a' in policy rule 1: 'oneOf[0]' must be a string, a number, true, false or null (found an object)"},
		{"one of lists", `{"a": {"oneOf": [[1]]}}`, "2:59 config.policy.rules[0].require.a.oneOf[0]: Requirement 'a' in policy rule 1: 'oneOf[0]' must be a string, a number, true, false or null (found an array)"},
		{"at most a text", `{"a": {"atMost": "5"}}`, "2:59 config.policy.rules[0].require.a.atMost: Requirement 'a' in policy rule 1: 'atMost' must be a number (found a string)"},
		{"at most too much", `{"a": {"atMost": 1e1000}}`, "2:59 config.policy.rules[0].require.a.atMost: Requirement 'a' in policy rule 1: 'atMost' must be a number: the exponent is beyond 999"},
		{"at most null", `{"a": {"atMost": null}}`, "2:59 config.policy.rules[0].require.a.atMost: Requirement 'a' in policy rule 1: 'atMost' must be a number (found null)"},
		{"argument twice", `{"a": {"sql": "read"}, "a": {"atMost": 1}}`, "2:65 config.policy.rules[0].require.a: Duplicate key 'a'"},
		{"condition twice", `{"a": {"atMost": 1, "atMost": 2}}`, "2:62 config.policy.rules[0].require.a.atMost: Duplicate key 'atMost'"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("test.json", []byte(requiring(test.require)), options())
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("the error is %v", err)
			}
			if got := summary(e.Problems); !slices.Equal(got, []string{test.want}) {
				t.Errorf("problems %q", got)
			}
		})
	}
}
