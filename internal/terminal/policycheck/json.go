package policycheck

import (
	"io"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
)

// The JSON of Explain.
type (
	explainedCall struct {
		Tool    string          `json:"tool"`
		Caller  string          `json:"caller"`
		Verdict string          `json:"verdict"`
		Hidden  bool            `json:"hidden"` // the tool is not listed for the caller
		Decided *decision       `json:"decided,omitempty"`
		Files   []explainedFile `json:"files"`
	}
	// decision is what decides about a call.
	decision struct {
		File string `json:"file"`
		Line int    `json:"line,omitempty"` // of the rule; 0 for the default
		Rule string `json:"rule,omitempty"` // the pattern that names the tool
		Why  string `json:"why,omitempty"`
	}
	explainedFile struct {
		File          string          `json:"file"`
		Verdict       string          `json:"verdict"`
		Default       string          `json:"default"`
		DefaultCounts bool            `json:"defaultCounts"`
		Hints         []explainedHint `json:"hints"`
		Rules         []explainedRule `json:"rules"`
	}
	explainedHint struct {
		Name   string `json:"name"`
		Value  bool   `json:"value"`
		Source string `json:"source"`
	}
	explainedRule struct {
		Line         int                    `json:"line,omitempty"`
		About        string                 `json:"about"`
		Matches      bool                   `json:"matches"`
		Pattern      string                 `json:"pattern,omitempty"`
		Mismatch     string                 `json:"mismatch,omitempty"`
		Verdict      string                 `json:"verdict,omitempty"`
		Requirements []explainedRequirement `json:"requirements,omitempty"`
		Limit        *explainedLimit        `json:"limit,omitempty"`
		Secret       string                 `json:"secret,omitempty"` // that the rule keeps out of the arguments
		Because      string                 `json:"because,omitempty"`
	}
	explainedRequirement struct {
		Argument string `json:"argument"`
		Holds    bool   `json:"holds"`
		Unmet    string `json:"unmet,omitempty"`
	}
	explainedLimit struct {
		Calls   int     `json:"calls"`
		Seconds float64 `json:"seconds"`
		Used    int     `json:"used"`
		Again   float64 `json:"againSeconds,omitempty"`
		Error   string  `json:"error,omitempty"`
	}
)

// ExplainJSON is Explain for scripts.
func ExplainJSON(out io.Writer, rules *policy.Policy, q *policy.Query, counter Counter) error {
	v := judge(rules, q, counter)
	call := explainedCall{
		Tool: fullName(q.Ref), Caller: q.Caller, Verdict: v.Verdict.String(), Hidden: rules.AlwaysDenies(q),
		Decided: decisionOf(v.Judgement), Files: []explainedFile{},
	}
	for i := range v.explained.Files {
		call.Files = append(call.Files, v.fileJSON(&v.explained.Files[i]))
	}
	return tty.WriteJSON(out, call)
}

// decisionOf returns what decides; nil if nothing says otherwise.
func decisionOf(j policy.Judgement) *decision {
	if j.Reason.File == "" {
		return nil
	}
	decided := &decision{File: j.Reason.File, Rule: string(j.Reason.Pattern), Why: j.Reason.Why()}
	if j.Reason.Rule != nil {
		decided.Line = j.Reason.Rule.Line
	}
	return decided
}

func (v *verdict) fileJSON(file *policy.FileExplanation) explainedFile {
	shown := explainedFile{
		File: file.File.Path, Verdict: file.Verdict.String(), Default: file.File.Default.String(), DefaultCounts: file.DefaultCounts,
		Rules: []explainedRule{},
	}
	for _, hint := range file.Hints {
		shown.Hints = append(shown.Hints, explainedHint{hint.Name, hint.Value, hint.Source.String()})
	}
	for i := range file.Rules {
		one := &file.Rules[i]
		rule := explainedRule{
			Line: one.Rule.Line, About: about(one.Rule), Matches: one.Matches, Pattern: string(one.Pattern), Mismatch: one.Mismatch,
			Verdict: one.Verdict.String(), Because: one.Rule.Because, Limit: v.limitJSON(one),
		}
		if one.Matches && one.Rule.ArgumentSecrets != 0 {
			rule.Secret = v.secret
		}
		for _, requirement := range one.Requirements {
			rule.Requirements = append(rule.Requirements, explainedRequirement{requirement.Argument, requirement.Unmet == "", requirement.Unmet})
		}
		shown.Rules = append(shown.Rules, rule)
	}
	return shown
}

func (v *verdict) limitJSON(one *policy.RuleExplanation) *explainedLimit {
	limit := one.Rule.Limit
	if limit == nil || !one.Matches {
		return nil
	}
	state := v.limits[one.Rule]
	shown := &explainedLimit{Calls: limit.Calls, Seconds: limit.Window.Seconds(), Used: state.used, Again: state.again.Seconds()}
	if state.err != nil {
		shown.Error = state.err.Error()
	}
	return shown
}
