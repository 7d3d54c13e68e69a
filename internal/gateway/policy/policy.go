// Package policy decides which calls of tools are allowed, which are denied, and about which a person is asked, by the
// rules of the configuration, and explains why.
package policy

import (
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Policy holds the rules of a configuration. It never changes, and is safe for concurrent use. A nil Policy allows
// everything.
type Policy struct {
	files   []config.PolicyFile
	ask     config.PolicyAsk
	callers []string // that rules name
	plans   plans
}

// New makes the policy of a configuration; nil if it has none.
func New(cfg *config.Config) *Policy {
	if len(cfg.Policy.Files) == 0 {
		return nil
	}
	p := &Policy{files: cfg.Policy.Files, ask: cfg.Policy.Ask}
	for _, file := range p.files {
		for _, rule := range file.Rules {
			p.callers = append(p.callers, rule.Callers...)
		}
	}
	slices.Sort(p.callers)
	p.callers = slices.Compact(p.callers)
	return p
}

// Callers returns the callers that rules name. All others are the same to the policy.
func (p *Policy) Callers() []string {
	if p == nil {
		return nil
	}
	return p.callers
}

// Query is a call of a tool that the policy is asked about.
type Query struct {
	Caller string // see config.CallerStdio and the others
	Ref    toolbox.Ref
	// Tool is the tool's definition. If it is absent, rules with hints cannot be decided; they count where they are
	// stricter.
	Tool         wire.Payload
	HintsDoubted bool         // the tool's own annotations do not count
	Arguments    wire.Payload // an object; absent means {}
	Folder       string       // where relative paths of the call start; "": unknown
	Others       []string     // where the server may start them instead
}

// Judgement is what the policy says of a call. The zero value allows it.
type Judgement struct {
	Verdict config.Verdict
	Reason  Reason
}

// Judge returns the verdict about a call. Limits and secrets are not part of it; see Stage. It does not allocate unless
// arguments have to be judged.
func (p *Policy) Judge(q *Query) Judgement {
	if p == nil {
		return Judgement{Verdict: config.Allow}
	}
	return p.planFor(q).judge(q)
}

// AlwaysDenies reports whether a tool is denied to the caller, whatever the arguments are, and whatever its definition
// is if that is absent.
func (p *Policy) AlwaysDenies(q *Query) bool {
	_, isDenied := p.Denial(q)
	return isDenied
}

// Denial is AlwaysDenies with the reason.
func (p *Policy) Denial(q *Query) (reason Reason, isDenied bool) {
	if p == nil {
		return reason, false
	}
	plan := p.compile(q)
	return plan.denial, plan.alwaysDenies
}

// Reads reports whether a tool only reads: it says so itself, unless its hints are doubted, or the policy classes it so.
func (p *Policy) Reads(ref toolbox.Ref, definition wire.Payload, hintsDoubted bool) bool {
	if p != nil {
		for i := range p.files {
			if isReader(&p.files[i], ref) {
				return true
			}
		}
	}
	return hintsOf(definition, hintsDoubted, false)[readOnly].isTrue()
}

// SecretRule is what happens to secrets of known forms, and by which rule. The zero value is nothing.
type SecretRule struct {
	Action config.SecretAction
	Reason Reason
}

// Secrets returns what happens to secrets in the arguments and in the result of a call: the strictest of all rules that
// are about it.
func (p *Policy) Secrets(q *Query) (arguments, results SecretRule) {
	if p == nil {
		return arguments, results
	}
	plan := p.planFor(q)
	return plan.argumentSecrets, plan.resultSecrets
}
