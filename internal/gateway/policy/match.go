package policy

import (
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// fit is whether a rule is about a tool and a caller.
type fit uint8

const (
	misfit fit = iota
	unsure     // it depends on the definition, which is not known
	fits
)

// match returns whether a rule is about a call, and the pattern that names the tool.
func match(file *config.PolicyFile, rule *config.PolicyRule, q *Query, hints *[hintCount]Hint) (toolbox.Pattern, fit) {
	if rule.Then == config.Allow && !file.Owns(q.Ref.Toolbox) {
		return "", misfit
	}
	if rule.Callers != nil && !slices.Contains(rule.Callers, q.Caller) {
		return "", misfit
	}
	pattern, ok := file.Match(rule, q.Ref)
	if !ok {
		return "", misfit
	}
	return pattern, matchHints(rule, hints)
}

func matchHints(rule *config.PolicyRule, hints *[hintCount]Hint) fit {
	result := fits
	for i, wanted := range wantedHints(rule) {
		switch {
		case wanted == nil:
		case hints[i].Source == HintUnknown:
			result = unsure
		case hints[i].Value != *wanted:
			return misfit
		}
	}
	return result
}

// The hints, by their place in the arrays below.
const (
	readOnly = iota
	destructive
	idempotent
	openWorld
	hintCount
)

// hintNames are the names in rules, annotationNames those in definitions.
var (
	hintNames       = [hintCount]string{"readOnly", "destructive", "idempotent", "openWorld"}
	annotationNames = [hintCount]string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
)

// wantedHints returns the hints that a rule asks for; nil: any.
func wantedHints(rule *config.PolicyRule) [hintCount]*bool {
	return [hintCount]*bool{rule.Hints.ReadOnly, rule.Hints.Destructive, rule.Hints.Idempotent, rule.Hints.OpenWorld}
}

// Hint is an annotation of a tool, as rules see it.
type Hint struct {
	Name   string // as in rules
	Value  bool
	Source HintSource
}

// HintSource is where a hint comes from.
type HintSource uint8

// The sources of hints.
const (
	HintUnknown  HintSource = iota // the definition is not known
	HintDeclared                   // by the tool
	HintDefault                    // of MCP, since the tool does not declare it
	HintDoubted                    // the default of MCP, since what the tool declares does not count
	HintClass                      // by the class 'reads' of the policy
	HintReads                      // a tool that only reads is never destructive
)

func (s HintSource) String() string {
	return [...]string{"unknown", "declared", "default", "doubted", "class", "reads"}[s]
}

func (h Hint) isTrue() bool { return h.Source != HintUnknown && h.Value }

// hintsOf returns the hints of a tool; isReader says that a person put it into the class 'reads'.
func hintsOf(definition wire.Payload, doubted, isReader bool) (hints [hintCount]Hint) {
	for i, value := range [hintCount]bool{destructive: true, openWorld: true} {
		hints[i] = Hint{Name: hintNames[i], Value: value, Source: HintDefault}
		switch {
		case doubted:
			hints[i].Source = HintDoubted
		case definition.IsAbsent():
			hints[i].Source = HintUnknown
		}
	}
	if !doubted {
		declaredHints(definition, &hints)
	}
	if isReader {
		hints[readOnly].Value, hints[readOnly].Source = true, HintClass
	}
	if hints[readOnly].isTrue() {
		hints[destructive].Value, hints[destructive].Source = false, HintReads
	}
	return hints
}

// declaredHints fills in what a definition declares. A hint that is declared twice with different values, or is not a
// boolean, counts as not declared.
func declaredHints(definition wire.Payload, hints *[hintCount]Hint) {
	defaults, isSpoilt := *hints, [hintCount]bool{}
	for name, annotations := range definition.Members() {
		if string(name) != "annotations" {
			continue
		}
		for name, value := range annotations.Members() {
			i := slices.Index(annotationNames[:], string(name))
			if i < 0 {
				continue
			}
			hint := &hints[i]
			isTrue := string(value.Bytes()) == "true"
			if value.Kind() != "boolean" || hint.Source == HintDeclared && hint.Value != isTrue {
				isSpoilt[i] = true
			}
			hint.Value, hint.Source = isTrue, HintDeclared
		}
	}
	for i := range hints {
		if isSpoilt[i] {
			hints[i] = defaults[i]
		}
	}
}

// isReader reports whether a file puts a tool into the class of tools that only read.
func isReader(file *config.PolicyFile, ref toolbox.Ref) bool {
	if len(file.Classes) == 0 || !file.Owns(ref.Toolbox) {
		return false
	}
	for _, class := range file.Classes {
		if class.Class == config.ClassReads && class.Tools.Matches(ref) {
			return true
		}
	}
	return false
}
