package policy

import (
	"bytes"
	"slices"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// plan is what the rules say of a tool and a caller: all that does not depend on the arguments is decided.
type plan struct {
	fixed        Judgement // the strictest verdict whatever the arguments are
	alwaysDenies bool      // certainly: it does not depend on a definition that is absent
	denial       Reason    // of that
	requires     []matched // rules whose conditions have to be judged for each call
	limits       []matched // rules that limit the number of calls

	argumentSecrets, resultSecrets SecretRule
}

// matched is a rule that is about the tool.
type matched struct {
	rule    *config.PolicyRule
	pattern toolbox.Pattern
}

func (m matched) reason(unmet string) Reason {
	return Reason{Rule: m.rule, Pattern: m.pattern, File: m.rule.File, Unmet: unmet}
}

// compile decides what does not depend on the arguments. Each file is judged alone, and the strictest verdict counts.
func (p *Policy) compile(q *Query) *plan {
	plan := &plan{}
	for i := range p.files {
		plan.add(&p.files[i], q)
	}
	if plan.fixed.Verdict == 0 {
		plan.fixed.Verdict = config.Allow
	}
	return plan
}

func (plan *plan) add(file *config.PolicyFile, q *Query) {
	hints := hintsOf(q.Tool, q.HintsDoubted, isReader(file, q.Ref))
	decided := misfit // whether a rule has a verdict that replaces the default
	for i := range file.Rules {
		rule := &file.Rules[i]
		pattern, fit := match(file, rule, q, &hints)
		if fit == misfit {
			continue
		}
		found := matched{rule, pattern}
		if rule.Then == 0 {
			plan.addConditions(found)
			continue
		}
		decided = max(decided, fit)
		plan.tighten(rule.Then, found.reason(""))
		if fit == fits && rule.Then == config.Deny {
			plan.denyAlways(found.reason(""))
		}
	}
	if decided != fits {
		plan.tighten(file.Default, Reason{File: file.Path})
	}
	if decided == misfit && file.Default == config.Deny {
		plan.denyAlways(Reason{File: file.Path})
	}
}

func (plan *plan) denyAlways(reason Reason) {
	if !plan.alwaysDenies {
		plan.alwaysDenies, plan.denial = true, reason
	}
}

func (plan *plan) tighten(verdict config.Verdict, reason Reason) {
	if verdict > plan.fixed.Verdict {
		plan.fixed = Judgement{verdict, reason}
	}
}

// addConditions adds what a rule without a verdict asks for.
func (plan *plan) addConditions(found matched) {
	rule := found.rule
	if len(rule.Require) > 0 {
		plan.requires = append(plan.requires, found)
	}
	if rule.Limit != nil {
		plan.limits = append(plan.limits, found)
	}
	if rule.ArgumentSecrets > plan.argumentSecrets.Action {
		plan.argumentSecrets = SecretRule{rule.ArgumentSecrets, found.reason("")}
	}
	if rule.ResultSecrets > plan.resultSecrets.Action {
		plan.resultSecrets = SecretRule{rule.ResultSecrets, found.reason("")}
	}
}

// judge completes the verdict with the arguments of a call.
func (plan *plan) judge(q *Query) Judgement {
	judgement := plan.fixed
	for _, found := range plan.requires {
		if found.rule.Else <= judgement.Verdict {
			continue // it cannot be stricter
		}
		if unmet := firstUnmet(found.rule, q); unmet != "" {
			judgement = Judgement{found.rule.Else, found.reason(unmet)}
		}
	}
	return judgement
}

// firstUnmet returns why a call does not meet the requirements of a rule; "" if it does.
func firstUnmet(rule *config.PolicyRule, q *Query) string {
	for i := range rule.Require {
		if unmet := rule.Require[i].Unmet(q.Arguments, q.Folder, q.Others...); unmet != "" {
			return "'" + rule.Require[i].Argument + "' " + unmet
		}
	}
	return ""
}

// maxPlans bounds the memory of compiled plans. Beyond it, all are dropped, and compiled again as they are needed.
const maxPlans = 4096

// plans are the compiled plans of tools that were called. Since a plan holds on to the definition that it was made of,
// that memory cannot become another definition meanwhile.
type plans struct {
	mu  sync.RWMutex
	all map[planKey]compiled
}

type planKey struct {
	caller  string // "" for all that no rule names
	ref     toolbox.Ref
	doubted bool
}

type compiled struct {
	definition wire.Payload
	plan       *plan
}

// planFor returns the plan of a call.
func (p *Policy) planFor(q *Query) *plan {
	if q.Tool.IsAbsent() { // the name is not known to exist, so that anything could fill the map
		return p.compile(q)
	}
	key := p.keyOf(q)
	p.plans.mu.RLock()
	found, ok := p.plans.all[key]
	p.plans.mu.RUnlock()
	if ok && isSame(found.definition.Bytes(), q.Tool.Bytes()) {
		return found.plan
	}
	plan := p.compile(q)
	p.plans.mu.Lock()
	defer p.plans.mu.Unlock()
	if p.plans.all == nil || len(p.plans.all) >= maxPlans {
		p.plans.all = make(map[planKey]compiled)
	}
	p.plans.all[key] = compiled{q.Tool, plan}
	return plan
}

func (p *Policy) keyOf(q *Query) planKey {
	key := planKey{ref: q.Ref, doubted: q.HintsDoubted}
	if slices.Contains(p.callers, q.Caller) {
		key.caller = q.Caller
	}
	return key
}

// isSame reports whether two definitions are equal. Nearly always they are the same memory, and not compared.
func isSame(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || bytes.Equal(a, b))
}

// passes reports whether the tool was called before and is not always denied, as far as was known then.
func (p *Policy) passes(q *Query) bool {
	key := p.keyOf(q)
	p.plans.mu.RLock()
	found, ok := p.plans.all[key]
	p.plans.mu.RUnlock()
	return ok && !found.plan.alwaysDenies
}
