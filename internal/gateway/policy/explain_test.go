package policy

import (
	"math/rand/v2"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/condition"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// requiring makes a rule about all tools that requires the argument n to be 1.
func requiring(orElse config.Verdict) config.PolicyRule {
	return config.PolicyRule{
		Tools: []toolbox.Pattern{"*"}, File: "f", Line: 4, Else: orElse,
		Require: []condition.Requirement{{Argument: "n", Condition: condition.Condition{OneOf: []wire.Payload{wire.Raw([]byte("1"))}}}},
	}
}

func TestRequirements(t *testing.T) {
	for _, byDefault := range verdicts {
		for _, then := range append([]config.Verdict{0}, verdicts...) {
			for _, orElse := range []config.Verdict{config.Ask, config.Deny} {
				for arguments, holds := range map[string]bool{`{"n":1}`: true, `{"n":2}`: false, `{}`: false, "": false, `{"n":1,"n":2}`: false} {
					rules := []config.PolicyRule{requiring(orElse)}
					want := byDefault
					if then != 0 {
						rules, want = append(rules, all(then)), then
					}
					if !holds {
						want = max(want, orElse)
					}
					q := &Query{Ref: aRef, Tool: aTool, Arguments: wire.Raw([]byte(arguments))}
					p := of(config.PolicyFile{Default: byDefault, Rules: rules})
					if got := p.Judge(q).Verdict; got != want {
						t.Errorf("default %s, then %s, else %s, arguments %s: %s, want %s", byDefault, then, orElse, arguments, got, want)
					}
					// Hidden is only what no arguments can change.
					if hidden := byDefault == config.Deny && then == 0 || then == config.Deny; p.AlwaysDenies(q) != hidden {
						t.Errorf("default %s, then %s, else %s: hidden %t", byDefault, then, orElse, !hidden)
					}
				}
			}
		}
	}
}

func TestReasonOfARequirement(t *testing.T) {
	rule := requiring(config.Deny)
	p, q := of(config.PolicyFile{Rules: []config.PolicyRule{rule}}), &Query{Ref: aRef, Tool: aTool, Arguments: wire.Raw([]byte(`{"n":2}`))}
	const want = "is denied by the policy (rule '*', f:4): 'n' must be 1: it is another value"
	if got := p.Judge(q).Reason.String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	rule.Because = "only one"
	p = of(config.PolicyFile{Rules: []config.PolicyRule{rule}})
	if got := p.Judge(q).Reason.String(); got != want+" (only one)" {
		t.Error(got)
	}
	if got := refusal("stdio", p.Judge(q).Reason).Hint; got != "Other arguments may be allowed. Otherwise use another tool, or ask the user, who can change the rule." {
		t.Error(got)
	}
}

// A rule that holds whatever the arguments are is the better reason.
func TestReasonOfTwoRules(t *testing.T) {
	p := of(config.PolicyFile{Rules: []config.PolicyRule{requiring(config.Deny), all(config.Deny)}})
	if got := p.Judge(&Query{Ref: aRef, Tool: aTool}).Reason; got.Unmet != "" || got.Rule.Then != config.Deny {
		t.Errorf("%s", got)
	}
}

func TestSecrets(t *testing.T) {
	secrets := func(pattern toolbox.Pattern, arguments, results config.SecretAction) config.PolicyRule {
		return config.PolicyRule{Tools: []toolbox.Pattern{pattern}, ArgumentSecrets: arguments, ResultSecrets: results}
	}
	p := of(config.PolicyFile{Rules: []config.PolicyRule{secrets("dev/*", config.SecretsMask, 0), secrets("other/*", 0, config.SecretsDeny)}},
		config.PolicyFile{Rules: []config.PolicyRule{secrets("*", config.SecretsDeny, 0), secrets("*/write", 0, config.SecretsMask)}})
	arguments, results := p.Secrets(&Query{Ref: aRef, Tool: aTool})
	if arguments.Action != config.SecretsDeny || arguments.Reason.Pattern != "*" || results.Action != config.SecretsMask || results.Reason.Pattern != "*/write" {
		t.Errorf("arguments %+v, results %+v", arguments, results)
	}
}

func TestExplain(t *testing.T) {
	file := config.PolicyFile{Path: "f", Default: config.Deny, Own: []string{"web"}, Rules: []config.PolicyRule{
		{Tools: []toolbox.Pattern{"other/*"}, Then: config.Deny},
		{Except: []toolbox.Pattern{"*/read", "dev/*"}, Then: config.Deny},
		{Callers: []string{"token:ci", "shared"}, Then: config.Deny},
		{Hints: config.PolicyHints{ReadOnly: yes()}, Then: config.Deny},
		{Hints: config.PolicyHints{Destructive: new(bool)}, Then: config.Deny},
		{Tools: []toolbox.Pattern{"dev/*"}, Then: config.Allow},
		{Tools: []toolbox.Pattern{"x", "dev/*"}, Then: config.Ask},
		requiring(config.Ask),
	}}
	got := of(file).Explain(&Query{Caller: "stdio", Ref: aRef, Tool: tool(`{"destructiveHint":true}`)})
	if got.Verdict != config.Ask || len(got.Files) != 1 || got.Files[0].Verdict != config.Ask || got.Files[0].DefaultCounts || len(got.Files[0].Hints) != hintCount {
		t.Fatalf("%+v", got)
	}
	for i, want := range []RuleExplanation{
		{Mismatch: "no pattern matches"},
		{Mismatch: "except 'dev/*' matches"},
		{Mismatch: "it is for other callers"},
		{Mismatch: "the hint readOnly is false by default"},
		{Mismatch: "the hint destructive is true"},
		{Mismatch: "a project's file allows tools of its own toolboxes only"},
		{Matches: true, Pattern: "dev/*", Verdict: config.Ask},
		{Matches: true, Pattern: "*", Verdict: config.Ask},
	} {
		rule := got.Files[0].Rules[i]
		if rule.Matches != want.Matches || rule.Mismatch != want.Mismatch || rule.Pattern != want.Pattern || rule.Verdict != want.Verdict {
			t.Errorf("rule %d: %+v", i+1, rule)
		}
	}
	if last := got.Files[0].Rules[7].Requirements; len(last) != 1 || last[0].Argument != "n" || last[0].Unmet == "" {
		t.Errorf("requirements %+v", last)
	}
}

// What the rules contribute is what the verdict comes from, for any policy.
func TestExplanationAgreesWithTheVerdict(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	flag := func() *bool {
		value := random.IntN(2) == 0
		return map[bool]*bool{true: &value}[random.IntN(4) == 0]
	}
	for range 20_000 {
		var files []config.PolicyFile
		for range 1 + random.IntN(2) {
			file := config.PolicyFile{Default: verdicts[random.IntN(3)]}
			if random.IntN(3) == 0 {
				file.Own = []string{pick("dev", "web")}
			}
			if random.IntN(3) == 0 {
				file.Classes = []config.PolicyClass{{Tools: "dev/*", Class: config.ClassReads}}
			}
			for range random.IntN(4) {
				rule := all(verdicts[random.IntN(3)])
				if random.IntN(3) == 0 {
					rule = requiring(verdicts[1+random.IntN(2)])
				}
				rule.Tools = []toolbox.Pattern{toolbox.Pattern(pick("*", "dev/*", "web/*"))}
				rule.Hints = config.PolicyHints{ReadOnly: flag(), Destructive: flag(), Idempotent: flag(), OpenWorld: flag()}
				if random.IntN(4) == 0 {
					rule.Callers = []string{pick("stdio", "shared")}
				}
				file.Rules = append(file.Rules, rule)
			}
			files = append(files, file)
		}
		q := &Query{
			Caller: pick("stdio", "shared", "terminal"), Ref: aRef, HintsDoubted: random.IntN(4) == 0,
			Arguments: wire.Raw([]byte(pick(`{"n":1}`, `{"n":2}`))),
		}
		if annotations := pick(`{}`, `{"readOnlyHint":true}`, `{"destructiveHint":false,"idempotentHint":true}`, ``); annotations != "" {
			q.Tool = tool(annotations)
		}
		p := of(files...)
		explanation, judgement := p.Explain(q), p.Judge(q)
		strictest := config.Verdict(0)
		for _, file := range explanation.Files {
			ofFile := config.Verdict(0)
			if file.DefaultCounts {
				ofFile = file.File.Default
			}
			for _, rule := range file.Rules {
				ofFile = max(ofFile, rule.Verdict)
				if rule.Matches != (rule.Mismatch == "") {
					t.Fatalf("%+v", rule)
				}
			}
			if file.Verdict != ofFile {
				t.Fatalf("the verdict of the file is %s, of its parts %s: %+v", file.Verdict, ofFile, file)
			}
			strictest = max(strictest, ofFile)
		}
		if judgement.Verdict != strictest || explanation.Verdict != strictest {
			t.Fatalf("the verdict is %s, explained as %s, of its parts %s: %+v", judgement.Verdict, explanation.Verdict, strictest, explanation)
		}
		if p.AlwaysDenies(q) && judgement.Verdict != config.Deny {
			t.Fatalf("always denied, and now %s", judgement.Verdict)
		}
	}
}
