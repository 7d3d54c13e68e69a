package policy

import (
	"fmt"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

var verdicts = []config.Verdict{config.Allow, config.Ask, config.Deny}

// of makes the policy of files.
func of(files ...config.PolicyFile) *Policy {
	return New(&config.Config{Policy: config.Policy{Files: files}})
}

// all makes a rule about all tools.
func all(then config.Verdict) config.PolicyRule {
	return config.PolicyRule{Tools: []toolbox.Pattern{"*"}, Then: then}
}

var (
	aRef  = toolbox.Ref{Toolbox: "dev", Server: "files", Name: "write"}
	aTool = wire.Raw([]byte(`{"name":"write","inputSchema":{"type":"object"}}`))
)

// The order of rules and of files has no meaning.
func TestVerdictsOfTwoRules(t *testing.T) {
	q := &Query{Ref: aRef, Tool: aTool}
	for _, one := range verdicts {
		for _, other := range verdicts {
			for _, byDefault := range verdicts {
				p := of(config.PolicyFile{Default: byDefault, Rules: []config.PolicyRule{all(one), all(other)}})
				if got, want := p.Judge(q).Verdict, max(one, other); got != want {
					t.Errorf("%s and %s with default %s is %s", one, other, byDefault, got)
				} else if p.AlwaysDenies(q) != (want == config.Deny) {
					t.Errorf("%s and %s with default %s is always denied: %t", one, other, byDefault, p.AlwaysDenies(q))
				}
				first := config.PolicyFile{Default: byDefault, Rules: []config.PolicyRule{all(one)}}
				second := config.PolicyFile{Default: byDefault, Rules: []config.PolicyRule{all(other)}}
				if got := of(first, second).Judge(q).Verdict; got != max(one, other) {
					t.Errorf("%s and %s of two files with default %s is %s", one, other, byDefault, got)
				}
				// A file without a rule about the tool has its default, which the other file cannot replace.
				if got := of(first, config.PolicyFile{Default: other}).Judge(q).Verdict; got != max(one, other) {
					t.Errorf("%s beside a default %s is %s", one, other, got)
				}
			}
		}
	}
}

func TestReasons(t *testing.T) {
	p := of(config.PolicyFile{Path: "/a.json", Rules: []config.PolicyRule{
		{Then: config.Deny, Tools: []toolbox.Pattern{"dev/files/x", "prod/*"}, Because: "production is read-only", File: "/a.json", Line: 12},
		{Then: config.Deny, Tools: []toolbox.Pattern{"*/delete_*"}, File: "/a.json", Line: 3},
		{Then: config.Deny, Tools: []toolbox.Pattern{"assumed/*"}, Because: "it cannot be read", File: "/a.json"},
		{Then: config.Deny, Callers: []string{"token:ci", "shared"}, Hints: config.PolicyHints{ReadOnly: new(bool), OpenWorld: yes()}, File: "/a.json", Line: 7},
	}}, config.PolicyFile{Path: "/b.json", Default: config.Deny, Rules: []config.PolicyRule{
		{Then: config.Allow, Tools: []toolbox.Pattern{"dev/*"}, File: "/b.json", Line: 1},
	}})
	for _, test := range []struct {
		ref          toolbox.Ref
		caller, want string // "": allowed
	}{
		{toolbox.Ref{Toolbox: "dev", Server: "files", Name: "read"}, "", ""},
		{toolbox.Ref{Toolbox: "prod", Server: "github", Name: "delete_repo"}, "", "is denied by the policy (rule 'prod/*', /a.json:12): production is read-only"},
		{toolbox.Ref{Toolbox: "dev", Server: "github", Name: "delete_repo"}, "", "is denied by the policy (rule '*/delete_*', /a.json:3)"},
		{toolbox.Ref{Toolbox: "assumed", Server: "s", Name: "t"}, "", "is denied by the policy (rule 'assumed/*', /a.json): it cannot be read"},
		{toolbox.Ref{Toolbox: "dev", Server: "files", Name: "read"}, "shared", "is denied by the policy (rule for callers token:ci shared, hints not readOnly and openWorld, /a.json:7)"},
		{toolbox.Ref{Toolbox: "web", Server: "files", Name: "read"}, "", "is denied by the policy (default, /b.json)"},
	} {
		judgement := p.Judge(&Query{Ref: test.ref, Caller: test.caller, Tool: aTool})
		if isDenied := judgement.Verdict == config.Deny; isDenied != (test.want != "") {
			t.Errorf("%v is denied: %t", test.ref, isDenied)
		} else if isDenied && judgement.Reason.String() != test.want {
			t.Errorf("%v %s, want %s", test.ref, judgement.Reason, test.want)
		}
	}
}

func yes() *bool { isTrue := true; return &isTrue }

func TestNoRulesNoPolicy(t *testing.T) {
	p, q := New(&config.Config{}), &Query{Ref: aRef, Tool: aTool}
	if p != nil || p.AlwaysDenies(q) || p.Judge(q).Verdict != config.Allow || p.Callers() != nil || p.Reads(aRef, aTool, false) || len(p.Explain(q).Files) > 0 {
		t.Errorf("there is a policy: %v", p)
	}
	if arguments, results := p.Secrets(q); fmt.Sprint(arguments, results) != fmt.Sprint(SecretRule{}, SecretRule{}) {
		t.Errorf("%v, %v", arguments, results)
	}
}

func TestJudgingDoesNotAllocate(t *testing.T) {
	p := of(config.PolicyFile{Default: config.Deny, Rules: []config.PolicyRule{
		{Tools: []toolbox.Pattern{"a/*"}, Then: config.Deny},
		{Tools: []toolbox.Pattern{"*/*/wri*"}, Callers: []string{"stdio", "token:ci"}, Hints: config.PolicyHints{Destructive: yes()}, Then: config.Ask},
	}})
	for _, caller := range []string{"stdio", "terminal"} {
		q := &Query{Caller: caller, Ref: aRef, Tool: aTool}
		if n := testing.AllocsPerRun(100, func() { p.Judge(q) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}
