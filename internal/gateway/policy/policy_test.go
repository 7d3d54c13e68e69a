package policy

import (
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestJudge(t *testing.T) {
	p := New(&config.Config{Policy: config.Policy{Files: []config.PolicyFile{{Rules: []config.PolicyRule{
		{Tools: []toolbox.Pattern{"dev/files/x", "prod/*"}, Because: "production is read-only", File: "/a/workbench-config.json", Line: 12},
		{Tools: []toolbox.Pattern{"*/delete_*"}, File: "/b/workbench-config.json", Line: 3},
		{Tools: []toolbox.Pattern{"assumed/*"}, Because: "it cannot be read", File: "/c/workbench-config.json"},
	}}}}})
	for _, test := range []struct {
		ref  toolbox.Ref
		want string // "": allowed
	}{
		{toolbox.Ref{Toolbox: "dev", Server: "files", Name: "read"}, ""},
		{toolbox.Ref{Toolbox: "prod", Server: "github", Name: "delete_repo"}, "is denied by the policy (rule 'prod/*', /a/workbench-config.json:12): production is read-only"},
		{toolbox.Ref{Toolbox: "dev", Server: "github", Name: "delete_repo"}, "is denied by the policy (rule '*/delete_*', /b/workbench-config.json:3)"},
		{toolbox.Ref{Toolbox: "assumed", Server: "s", Name: "t"}, "is denied by the policy (rule 'assumed/*', /c/workbench-config.json): it cannot be read"},
	} {
		denial, denied := p.Judge(test.ref)
		if denied != (test.want != "") || p.Denies(test.ref) != denied {
			t.Errorf("%v is denied: %t", test.ref, denied)
		} else if denied && denial.Reason() != test.want {
			t.Errorf("%v %s, want %s", test.ref, denial.Reason(), test.want)
		}
	}
}

func TestNoRulesNoPolicy(t *testing.T) {
	p := New(&config.Config{})
	if p != nil || p.Denies(toolbox.Ref{Toolbox: "dev", Server: "files", Name: "read"}) {
		t.Errorf("there is a policy: %v", p)
	}
}

func TestJudgingDoesNotAllocate(t *testing.T) {
	p := New(&config.Config{Policy: config.Policy{Files: []config.PolicyFile{{Rules: []config.PolicyRule{{Tools: []toolbox.Pattern{"a/*"}}, {Tools: []toolbox.Pattern{"*/*/delete_*"}}}}}}})
	ref := toolbox.Ref{Toolbox: "dev", Server: "files", Name: "delete_all"}
	if n := testing.AllocsPerRun(100, func() { p.Judge(ref) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
