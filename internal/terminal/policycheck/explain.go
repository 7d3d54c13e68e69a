package policycheck

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Explain writes how each rule judges a call, and the verdict.
func Explain(screen *tty.Screen, rules *policy.Policy, q *policy.Query, counter Counter) {
	v := judge(rules, q, counter)
	fmt.Fprintf(screen, "%s, called by %s: %s\n", screen.Paint(tty.Strong, tty.CleanLine(fullName(q.Ref))), tty.CleanLine(q.Caller), paintVerdict(screen, v.Verdict))
	switch {
	case rules == nil:
		fmt.Fprintln(screen, "There is no policy, so that every call is allowed.")
		return
	case rules.AlwaysDenies(q):
		fmt.Fprintln(screen, screen.Wrap("The tool is not listed for this caller, since no arguments are allowed.", 0))
	}
	for i := range v.explained.Files {
		v.writeFile(screen, &v.explained.Files[i])
	}
	fmt.Fprintf(screen, "\n%s %s\n", paintVerdict(screen, v.Verdict), screen.Wrap(tty.CleanLine(decidedBy(v.Judgement)), len(v.Verdict.String())+1))
}

func fullName(ref toolbox.Ref) string { return ref.Toolbox + "/" + ref.Server + "/" + ref.Name }

func paintVerdict(screen *tty.Screen, verdict config.Verdict) string {
	style := tty.Good
	switch verdict {
	case config.Ask:
		style = tty.Caution
	case config.Deny:
		style = tty.Bad
	}
	return screen.Paint(style, verdict.String())
}

// decidedBy says what decides about a call.
func decidedBy(j policy.Judgement) string {
	if j.Reason.File == "" {
		return "since no rule says otherwise"
	}
	text := "by " + j.Reason.Where()
	if why := j.Reason.Why(); why != "" {
		text += ": " + why
	}
	return text
}

// whyDoubted says what to do about hints that do not count.
const whyDoubted = "The tool's own hints do not count: its server has \"trustHints\": false, or they changed, which this lists: mcp-workbench policy accept"

func (v *verdict) writeFile(screen *tty.Screen, file *policy.FileExplanation) {
	fmt.Fprintf(screen, "\n%s: %s\n", screen.Paint(tty.Name, tty.CleanLine(file.File.Path)), paintVerdict(screen, file.Verdict))
	var hints []string
	for _, hint := range file.Hints {
		hints = append(hints, fmt.Sprintf("%s %t (%s)", hint.Name, hint.Value, hintSource(hint.Source)))
	}
	fmt.Fprintln(screen, "  "+screen.Paint(tty.Faint, "Hints:")+" "+screen.Wrap(strings.Join(hints, ", "), 9))
	if slices.ContainsFunc(file.Hints, func(hint policy.Hint) bool { return hint.Source == policy.HintDoubted }) {
		fmt.Fprintln(screen, "         "+screen.Wrap(whyDoubted, 9))
	}
	var rows [][]tty.Cell
	for i := range file.Rules {
		one := &file.Rules[i]
		row := tty.Cells(contribution(one), fmt.Sprintf("line %d", one.Rule.Line), about(one.Rule), v.why(one))
		row[0].Style = styleOf(one.Verdict)
		rows = append(rows, row)
	}
	byDefault, why := "-", "a rule decides instead"
	if file.DefaultCounts {
		byDefault, why = file.File.Default.String(), "no rule that matches has a 'then'"
	}
	row := tty.Cells(byDefault, "default", file.File.Default.String(), why)
	if file.DefaultCounts {
		row[0].Style = styleOf(file.File.Default)
	}
	screen.WrappedTable([]string{"VERDICT", "WHERE", "RULE", "WHY"}, append(rows, row))
}

// contribution is what a rule adds to the verdict.
func contribution(one *policy.RuleExplanation) string {
	switch {
	case !one.Matches:
		return "-"
	case one.Verdict != 0:
		return one.Verdict.String()
	}
	return "holds"
}

func styleOf(verdict config.Verdict) tty.Style {
	switch verdict {
	case config.Ask:
		return tty.Caution
	case config.Deny:
		return tty.Bad
	}
	return tty.Plain
}

// about describes what a rule is about, and what it says.
func about(rule *config.PolicyRule) string {
	var parts []string
	for _, list := range []struct {
		name     string
		patterns []toolbox.Pattern
	}{{"", rule.Tools}, {"except ", rule.Except}} {
		var texts []string
		for _, pattern := range list.patterns {
			texts = append(texts, string(pattern))
		}
		if len(texts) > 0 {
			parts = append(parts, list.name+strings.Join(texts, " "))
		}
	}
	if hints := hintsText(rule.Hints); hints != "" {
		parts = append(parts, hints)
	}
	if len(rule.Callers) > 0 {
		parts = append(parts, "callers "+strings.Join(rule.Callers, " "))
	}
	return strings.Join(append(parts, demands(rule)...), "; ")
}

// demands describes what a rule says about the calls that it is about.
func demands(rule *config.PolicyRule) (parts []string) {
	if rule.Then != 0 {
		parts = append(parts, "then "+rule.Then.String())
	}
	if len(rule.Require) > 0 {
		var names []string
		for i := range rule.Require {
			names = append(names, rule.Require[i].Argument)
		}
		parts = append(parts, "require "+strings.Join(names, " "))
	}
	if rule.Limit != nil {
		parts = append(parts, fmt.Sprintf("limit %s", rate(rule.Limit)))
	}
	if rule.Else != 0 {
		parts = append(parts, "else "+rule.Else.String())
	}
	for _, one := range []struct {
		name   string
		action config.SecretAction
	}{{"arguments", rule.ArgumentSecrets}, {"results", rule.ResultSecrets}} {
		if one.action != 0 {
			parts = append(parts, one.name+" secrets "+secretWord(one.action))
		}
	}
	return parts
}

func secretWord(action config.SecretAction) string {
	if action == config.SecretsMask {
		return "mask"
	}
	return "deny"
}

func rate(limit *config.PolicyLimit) string {
	return fmt.Sprintf("%s in %s", toolbox.Count(limit.Calls, "call", "calls"), span(limit.Window))
}

// span writes a duration with days, and without what is zero.
func span(d time.Duration) string {
	text := ""
	if days := d / (24 * time.Hour); days > 0 {
		if text = fmt.Sprintf("%dd", days); d%(24*time.Hour) == 0 {
			return text
		}
		d %= 24 * time.Hour
	}
	rest := d.Round(time.Second).String()
	if strings.HasSuffix(rest, "m0s") {
		rest = strings.TrimSuffix(rest, "0s")
	}
	if strings.HasSuffix(rest, "h0m") {
		rest = strings.TrimSuffix(rest, "0m")
	}
	return text + rest
}

// hintsText lists the hints that a rule asks for.
func hintsText(hints config.PolicyHints) string {
	var words []string
	for _, hint := range []struct {
		name  string
		value *bool
	}{{"readOnly", hints.ReadOnly}, {"destructive", hints.Destructive}, {"idempotent", hints.Idempotent}, {"openWorld", hints.OpenWorld}} {
		if hint.value != nil {
			words = append(words, fmt.Sprintf("%s %t", hint.name, *hint.value))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return "hints " + strings.Join(words, " ")
}

// hintSource says where a hint comes from.
func hintSource(source policy.HintSource) string {
	switch source {
	case policy.HintDeclared:
		return "declared"
	case policy.HintDefault:
		return "default"
	case policy.HintDoubted:
		return "default, own doubted"
	case policy.HintClass:
		return "class reads"
	case policy.HintReads:
		return "since it is read-only"
	}
	return "unknown"
}

// why says why a rule is or is not about a call, and which of its demands the call meets.
func (v *verdict) why(one *policy.RuleExplanation) string {
	if !one.Matches {
		return one.Mismatch
	}
	var parts []string
	for _, requirement := range one.Requirements {
		state := "holds"
		if requirement.Unmet != "" {
			state = requirement.Unmet
		}
		parts = append(parts, "'"+requirement.Argument+"' "+state)
	}
	if one.Rule.Limit != nil {
		parts = append(parts, v.limits[one.Rule].text(one.Rule.Limit))
	}
	switch {
	case one.Rule.ArgumentSecrets == 0:
	case v.secret != "":
		parts = append(parts, v.secret)
	default:
		parts = append(parts, "the arguments contain no secret of a known form")
	}
	if len(parts) == 0 {
		parts = []string{"matches"}
	}
	text := strings.Join(parts, "; ")
	if one.Rule.Because != "" && one.Verdict != 0 {
		text += " (" + one.Rule.Because + ")"
	}
	return text
}

func (s limitState) text(limit *config.PolicyLimit) string {
	switch {
	case s.err != nil:
		return "calls cannot be counted: " + s.err.Error()
	case s.isReached(limit) && s.again > 0:
		return fmt.Sprintf("%d of %d used, the next is free in %s", s.used, limit.Calls, span(max(s.again, time.Second)))
	}
	return fmt.Sprintf("%d of %d used", s.used, limit.Calls)
}
