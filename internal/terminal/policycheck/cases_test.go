package policycheck

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func rulesOf(t *testing.T, text string) *policy.Policy {
	t.Helper()
	dir := t.TempDir()
	cfg, err := config.Parse(filepath.Join(dir, "c.json"), []byte(`{"policy": `+text+`, "toolboxes": {"dev": {"mcpServers": {"s": {"command": "x"}}}}}`),
		config.ParseOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return policy.New(cfg)
}

// used is a counter with one number for all limits.
type used struct {
	calls int
	again time.Duration
	err   error
}

func (u used) Used(policy.Claim) (int, time.Duration, error) { return u.calls, u.again, u.err }

func TestLimitsTakePartInTheVerdict(t *testing.T) {
	const limitDeny, limitAsk = `{"tools": "*", "limit": {"calls": "2/1h"}}`, `{"tools": "*", "limit": {"calls": "2/1h"}, "else": "ask"}`
	for _, test := range []struct {
		rules   string
		counter used
		want    config.Verdict
	}{
		{limitDeny, used{}, config.Allow},
		{limitDeny, used{calls: 1}, config.Allow},
		{limitDeny, used{calls: 2}, config.Deny},
		{limitDeny, used{calls: 3}, config.Deny},
		{limitDeny, used{err: errors.New("damaged")}, config.Deny},
		{limitAsk, used{calls: 2}, config.Ask},
		{limitAsk, used{err: errors.New("damaged")}, config.Deny}, // what cannot be counted is refused
		{limitAsk + `, {"tools": "*", "then": "deny"}`, used{calls: 2}, config.Deny},
		{limitAsk + `, {"tools": "*", "then": "ask"}`, used{}, config.Ask},
		{limitAsk + `,` + limitDeny, used{calls: 2}, config.Deny},
		{`{"tools": "other/*", "limit": {"calls": "2/1h"}}`, used{calls: 2}, config.Allow},
		{`{"tools": "*", "callers": "shared", "limit": {"calls": "2/1h"}}`, used{calls: 2}, config.Allow},
	} {
		q := &policy.Query{Caller: config.CallerStdio, Ref: toolbox.Ref{Toolbox: "dev", Server: "s", Name: "t"}, Tool: wire.Raw([]byte("{}"))}
		v := judge(rulesOf(t, `{"rules": [`+test.rules+`]}`), q, test.counter)
		if v.Verdict != test.want || v.explained.Files[0].Verdict != test.want {
			t.Errorf("%s with %+v: %s, file %s", test.rules, test.counter, v.Verdict, v.explained.Files[0].Verdict)
		}
	}
}

func TestExplanationOfALimit(t *testing.T) {
	rules := rulesOf(t, `{"rules": [{"tools": "*", "limit": {"calls": "2/1d"}, "because": "it costs"}]}`)
	q := &policy.Query{Caller: config.CallerStdio, Ref: toolbox.Ref{Toolbox: "dev", Server: "s", Name: "t"}, Tool: wire.Raw([]byte("{}"))}
	for _, test := range []struct {
		counter used
		want    []string
	}{
		{used{calls: 1}, []string{"called by stdio: allow", "holds", "limit 2 calls in 1d", "1 of 2 used"}},
		{used{calls: 2, again: 90 * time.Minute}, []string{"called by stdio: deny", "2 of 2 used, the next is free in 1h30m (it costs)"}},
		{used{err: errors.New("damaged")}, []string{"called by stdio: deny", "calls cannot be counted: damaged"}},
	} {
		var out bytes.Buffer
		Explain(tty.New(&out, nil, func(string) string { return "" }), rules, q, test.counter)
		for _, want := range test.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%+v: %q is missing in:\n%s", test.counter, want, &out)
			}
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Second: "1s", time.Minute: "1m", time.Hour: "1h", 24 * time.Hour: "1d", 31 * 24 * time.Hour: "31d", 90 * time.Minute: "1h30m",
		25 * time.Hour: "1d1h", 10 * time.Minute: "10m", 20*time.Hour + 5*time.Second: "20h0m5s",
	} {
		if got := span(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestSecretsTakePartInTheVerdict(t *testing.T) {
	const token = "ghp_0123456789abcdefghij"
	for _, test := range []struct {
		rule, arguments string
		want            config.Verdict
	}{
		{`{"tools": "*", "arguments": {"secrets": "deny"}}`, `{"a":{"b":["x","` + token + `"]}}`, config.Deny},
		{`{"tools": "*", "arguments": {"secrets": "deny"}}`, `{"a":"x"}`, config.Allow},
		{`{"tools": "*", "arguments": {"secrets": "mask"}}`, `{"a":"` + token + `"}`, config.Allow},
		{`{"tools": "*", "results": {"secrets": "deny"}}`, `{"a":"` + token + `"}`, config.Allow},
		{`{"tools": "other/*", "arguments": {"secrets": "deny"}}`, `{"a":"` + token + `"}`, config.Allow},
	} {
		q := &policy.Query{
			Caller: config.CallerStdio, Ref: toolbox.Ref{Toolbox: "dev", Server: "s", Name: "t"},
			Tool: wire.Raw([]byte("{}")), Arguments: wire.Raw([]byte(test.arguments)),
		}
		rules := rulesOf(t, `{"rules": [`+test.rule+`]}`)
		if v := judge(rules, q, used{}); v.Verdict != test.want {
			t.Errorf("%s with %s: %s", test.rule, test.arguments, v.Verdict)
		}
		var out bytes.Buffer
		Explain(tty.New(&out, nil, func(string) string { return "" }), rules, q, used{})
		if strings.Contains(out.String(), token) {
			t.Errorf("%s shows the secret:\n%s", test.rule, &out)
		}
		if test.want == config.Deny && !strings.Contains(out.String(), "the argument 'a.b[1]' contains a secret (GitHub token)") {
			t.Errorf("%s:\n%s", test.rule, &out)
		}
	}
}

func TestTheRuleThatACallNames(t *testing.T) {
	const (
		secrets = `{"tools": "*/t", "arguments": {"secrets": "deny"}}`
		limit   = `{"tools": "dev/*", "limit": {"calls": "2/1h"}}`
		require = `{"tools": "dev/s/*", "require": {"a": {"oneOf": ["b"]}}}`
		hinted  = `{"tools": "dev/s/*", "hints": {"readOnly": false}, "then": "deny"}`
		denied  = `{"tools": "dev/s/*", "then": "deny"}`
	)
	for _, test := range []struct{ rules, want string }{
		{limit + "," + secrets, "*/t"},
		{require + "," + secrets, "*/t"},
		{hinted + "," + secrets, "*/t"},
		{denied + "," + secrets, "dev/s/*"},
		{secrets + "," + denied, "dev/s/*"},
		{limit + "," + require, "dev/s/*"},
	} {
		q := &policy.Query{
			Caller: config.CallerStdio, Ref: toolbox.Ref{Toolbox: "dev", Server: "s", Name: "t"}, Tool: wire.Raw([]byte("{}")),
			Arguments: wire.Raw([]byte(`{"a": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}`)),
		}
		v := judge(rulesOf(t, `{"rules": [`+test.rules+`]}`), q, used{calls: 2})
		if v.Verdict != config.Deny || string(v.Reason.Pattern) != test.want {
			t.Errorf("%s: %s by %q, want %q", test.rules, v.Verdict, v.Reason.Pattern, test.want)
		}
	}
}
