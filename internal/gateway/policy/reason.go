package policy

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Reason is what decided about a call.
type Reason struct {
	Rule    *config.PolicyRule // nil: the default of the file
	Pattern toolbox.Pattern    // of the rule, the one that names the tool; "" if it is about all tools
	File    string
	Unmet   string        // why a call does not satisfy the rule; "" if that does not depend on the call
	Again   time.Duration // for a call beyond a limit, when one is free again; otherwise 0
}

// String says what denies the tool and why, phrased to follow the name of the tool.
func (r Reason) String() string {
	text := "is denied by the policy (" + r.Where() + ")"
	if why := r.Why(); why != "" {
		text += ": " + why
	}
	return text
}

// ShownTo returns the reason as a caller may read it: who may be elsewhere does not learn where its files are.
func (r Reason) ShownTo(caller string) Reason {
	if config.MayBeElsewhere(caller) && r.File != "" {
		r.File = filepath.Base(r.File)
	}
	return r
}

// Advisers says whom a caller can ask about rules.
func Advisers(caller string) string {
	if config.MayBeElsewhere(caller) {
		return "those who run the workbench"
	}
	return "the user"
}

// askToChange is the advice to ask for another rule.
func askToChange(caller string) string {
	if config.MayBeElsewhere(caller) {
		return "ask " + Advisers(caller)
	}
	return "ask " + Advisers(caller) + ", who can change the rule"
}

// Where names the rule and its place.
func (r Reason) Where() string {
	if r.Rule == nil {
		return "default, " + r.File
	}
	where := r.File
	if r.Rule.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, r.Rule.Line)
	}
	return r.name() + ", " + where
}

// name names the rule by what it is about.
func (r Reason) name() string {
	if r.Pattern != "" {
		return "rule '" + string(r.Pattern) + "'"
	}
	var about []string
	if len(r.Rule.Callers) > 0 {
		about = append(about, "callers "+strings.Join(r.Rule.Callers, " "))
	}
	if hints := hintText(r.Rule); hints != "" {
		about = append(about, "hints "+hints)
	}
	return "rule for " + strings.Join(about, ", ")
}

// hintText lists the hints that a rule asks for.
func hintText(rule *config.PolicyRule) string {
	var hints []string
	for i, wanted := range wantedHints(rule) {
		switch {
		case wanted == nil:
		case *wanted:
			hints = append(hints, hintNames[i])
		default:
			hints = append(hints, "not "+hintNames[i])
		}
	}
	return strings.Join(hints, " and ")
}

// Why returns what the call does not satisfy, and what the author of the rule gives as its reason; "" if there is
// neither.
func (r Reason) Why() string {
	because := ""
	if r.Rule != nil {
		because = r.Rule.Because
	}
	switch {
	case r.Unmet == "":
		return because
	case because == "":
		return r.Unmet
	}
	return r.Unmet + " (" + because + ")"
}
