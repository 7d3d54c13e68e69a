package policy

import (
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Explanation is how the policy comes to its verdict about a call. Limits are not counted in it.
type Explanation struct {
	Judgement
	Files []FileExplanation
}

// FileExplanation is the part of one file.
type FileExplanation struct {
	File *config.PolicyFile
	Judgement
	Hints         []Hint // of the tool, as the rules of this file see them
	DefaultCounts bool   // no rule has a verdict that replaces the default
	Rules         []RuleExplanation
}

// RuleExplanation is the part of one rule.
type RuleExplanation struct {
	Rule    *config.PolicyRule
	Matches bool
	// Pattern is the one that names the tool; "" for a rule about all tools.
	Pattern toolbox.Pattern
	// Mismatch is why the rule is not about the call; "" if it is.
	Mismatch string
	// Requirements are the conditions of a rule that is about the call, in order.
	Requirements []RequirementExplanation
	// Verdict is what the rule contributes; 0: nothing.
	Verdict config.Verdict
}

// RequirementExplanation is one condition on an argument.
type RequirementExplanation struct {
	Argument string
	Unmet    string // why it does not hold, phrased to follow the name of the argument; "" if it does
}

// Explain returns what each rule says of a call.
func (p *Policy) Explain(q *Query) Explanation {
	explanation := Explanation{Judgement: p.Judge(q)}
	if p == nil {
		return explanation
	}
	for i := range p.files {
		explanation.Files = append(explanation.Files, explainFile(&p.files[i], q))
	}
	return explanation
}

func explainFile(file *config.PolicyFile, q *Query) FileExplanation {
	alone := &Policy{files: []config.PolicyFile{*file}}
	hints := hintsOf(q.Tool, q.HintsDoubted, isReader(file, q.Ref))
	result := FileExplanation{File: file, Judgement: alone.compile(q).judge(q), Hints: hints[:], DefaultCounts: true}
	for i := range file.Rules {
		rule := &file.Rules[i]
		pattern, fit := match(file, rule, q, &hints)
		explained := RuleExplanation{Rule: rule, Matches: fit == fits, Pattern: pattern, Mismatch: mismatch(file, rule, q, &hints)}
		if fit != misfit {
			explained.explain(q)
		}
		if fit == fits && rule.Then != 0 {
			result.DefaultCounts = false
		}
		result.Rules = append(result.Rules, explained)
	}
	return result
}

// explain fills in what a rule contributes.
func (r *RuleExplanation) explain(q *Query) {
	if r.Matches || r.Rule.Then != config.Allow {
		r.Verdict = r.Rule.Then
	}
	for i := range r.Rule.Require {
		requirement := &r.Rule.Require[i]
		unmet := requirement.Unmet(q.Arguments, q.Folder, q.Others...)
		r.Requirements = append(r.Requirements, RequirementExplanation{requirement.Argument, unmet})
		if unmet != "" {
			r.Verdict = r.Rule.Else
		}
	}
}

// mismatch returns why a rule is not about a call; "" if it is.
func mismatch(file *config.PolicyFile, rule *config.PolicyRule, q *Query, hints *[hintCount]Hint) string {
	if pattern, ok := file.Exception(rule, q.Ref); ok {
		return "except '" + string(pattern) + "' matches"
	}
	if _, ok := file.Match(rule, q.Ref); !ok {
		return "no pattern matches"
	}
	if rule.Callers != nil && !slices.Contains(rule.Callers, q.Caller) {
		return "it is for other callers"
	}
	if rule.Then == config.Allow && !file.Owns(q.Ref.Toolbox) {
		if file.Own == nil {
			return "a project's file replaces the toolbox that it was written for"
		}
		return "a project's file allows tools of its own toolboxes only"
	}
	for i, wanted := range wantedHints(rule) {
		switch {
		case wanted == nil:
		case hints[i].Source == HintUnknown:
			return "the hint " + hintNames[i] + " is not known"
		case hints[i].Value != *wanted:
			return "the hint " + hintNames[i] + " is " + hints[i].text()
		}
	}
	return ""
}

// text is the value and where it comes from.
func (h Hint) text() string {
	value := "false"
	if h.Value {
		value = "true"
	}
	switch h.Source {
	case HintDefault:
		return value + " by default"
	case HintDoubted:
		return value + ", since what the tool declares does not count"
	case HintClass:
		return value + " by its class"
	case HintReads:
		return value + ", since it only reads"
	}
	return value
}
