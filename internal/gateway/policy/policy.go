// Package policy decides which tools may be used, by the rules of the configuration, and explains why one may not.
package policy

import (
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Policy holds the rules of a configuration. It never changes, and is safe for concurrent use. A nil Policy allows
// everything.
type Policy struct {
	files []config.PolicyFile
}

// New makes the policy of a configuration; nil if it has no rules.
func New(cfg *config.Config) *Policy {
	if len(cfg.Policy.Files) == 0 {
		return nil
	}
	return &Policy{files: cfg.Policy.Files}
}

// Denial is why a tool may not be used. The zero value denies nothing.
type Denial struct {
	Pattern toolbox.Pattern // the one that names the tool
	Rule    *config.PolicyRule
}

// Judge returns why a tool may not be used, if it may not: the first rule that denies it. It does not allocate.
func (p *Policy) Judge(ref toolbox.Ref) (denial Denial, isDenied bool) {
	if p == nil {
		return denial, false
	}
	for _, file := range p.files {
		for i := range file.Rules {
			if pattern, ok := file.Rules[i].Match(ref); ok && file.Rules[i].Then != config.Allow {
				return Denial{Pattern: pattern, Rule: &file.Rules[i]}, true
			}
		}
	}
	return denial, false
}

// Denies reports whether a tool may not be used, whatever its definition and its arguments are.
func (p *Policy) Denies(ref toolbox.Ref) bool {
	_, isDenied := p.Judge(ref)
	return isDenied
}

// Reason says which rule denies the tool and why, phrased to follow the name of the tool.
func (d Denial) Reason() string {
	where := d.Rule.File
	if d.Rule.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, d.Rule.Line)
	}
	text := fmt.Sprintf("is denied by the policy (rule '%s', %s)", d.Pattern, where)
	if d.Rule.Because != "" {
		text += ": " + d.Rule.Because
	}
	return text
}

// nextStep is for the model that called a tool which is denied.
const nextStep = "Do not try again: use another tool, or ask the user, who can change the rule."

// Screen implements call.Screener: it refuses calls of tools that are denied.
func (p *Policy) Screen(request *call.Call) *call.Failure {
	if request.Method != protocol.MethodToolsCall {
		return nil
	}
	denial, isDenied := p.Judge(toolbox.Ref{Toolbox: request.Server.Toolbox(), Server: request.Server.Name(), Name: request.Name})
	if !isDenied {
		return nil
	}
	return &call.Failure{Message: "it " + denial.Reason(), Hint: nextStep}
}
