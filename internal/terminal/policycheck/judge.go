// Package policycheck shows a person how the policy judges calls: explained rule by rule, tested with cases, and suggested
// from what tools declare.
package policycheck

import (
	"fmt"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Counter tells how many calls of a limit are used, and after which time one is free again if all are. It counts nothing.
type Counter interface {
	Used(claim policy.Claim) (calls int, again time.Duration, err error)
}

// verdict is what happens to a call, limits included.
type verdict struct {
	policy.Judgement
	explained policy.Explanation
	limits    map[*config.PolicyRule]limitState
	secret    string // the secret that the arguments contain; "" if they contain none
}

// limitState is how far a limit is used.
type limitState struct {
	used  int
	again time.Duration
	err   error // why that is not known
}

func (s limitState) isReached(limit *config.PolicyLimit) bool { return s.used >= limit.Calls }

// judge judges a call, with the limits that rules set, and the secrets that they keep out of arguments.
func judge(rules *policy.Policy, q *policy.Query, counter Counter) verdict {
	explained := rules.Explain(q)
	v := verdict{Judgement: explained.Judgement, explained: explained, limits: make(map[*config.PolicyRule]limitState)}
	if argument, kind := policy.FindSecret(q.Arguments); kind != "" {
		v.secret = fmt.Sprintf("the argument '%s' contains a secret (%s)", argument, kind)
	}
	v.refuseSecrets(rules, q)
	v.eachMatch(func(file *policy.FileExplanation, one *policy.RuleExplanation) {
		if one.Rule.ArgumentSecrets == config.SecretsDeny && v.secret != "" {
			v.tighten(file, one, config.Deny, policy.Reason{Unmet: v.secret})
		}
	})
	v.eachMatch(func(file *policy.FileExplanation, one *policy.RuleExplanation) {
		if one.Rule.Limit != nil {
			v.count(file, one, q.Caller, counter)
		}
	})
	return v
}

// refuseSecrets names the rule that a call of the tool names: secrets in its arguments are refused before anything else,
// except what is denied whatever the definition of the tool is.
func (v *verdict) refuseSecrets(rules *policy.Policy, q *policy.Query) {
	arguments, _ := rules.Secrets(q)
	if v.secret == "" || arguments.Action != config.SecretsDeny {
		return
	}
	undefined := *q
	undefined.Tool = wire.Payload{}
	if _, isDenied := rules.Denial(&undefined); !isDenied {
		arguments.Reason.Unmet = v.secret
		v.Judgement = policy.Judgement{Verdict: config.Deny, Reason: arguments.Reason}
	}
}

// eachMatch calls do with every rule that is about the call.
func (v *verdict) eachMatch(do func(file *policy.FileExplanation, one *policy.RuleExplanation)) {
	for i := range v.explained.Files {
		file := &v.explained.Files[i]
		for j := range file.Rules {
			if one := &file.Rules[j]; one.Matches {
				do(file, one)
			}
		}
	}
}

// tighten adds what a rule says of the call beyond its requirements.
func (v *verdict) tighten(file *policy.FileExplanation, one *policy.RuleExplanation, verdict config.Verdict, reason policy.Reason) {
	reason.Rule, reason.Pattern, reason.File = one.Rule, one.Pattern, one.Rule.File
	judged := policy.Judgement{Verdict: verdict, Reason: reason}
	one.Verdict = max(one.Verdict, verdict)
	file.Judgement = stricter(file.Judgement, judged)
	v.Judgement = stricter(v.Judgement, judged)
}

// count adds how far the limit of a rule is used, and what follows from that.
func (v *verdict) count(file *policy.FileExplanation, one *policy.RuleExplanation, caller string, counter Counter) {
	limit := one.Rule.Limit
	var state limitState
	state.used, state.again, state.err = counter.Used(policy.Claim{Rule: one.Rule, Caller: caller})
	v.limits[one.Rule] = state
	switch {
	case state.err != nil:
		v.tighten(file, one, config.Deny, policy.Reason{Unmet: state.text(limit)})
	case state.isReached(limit):
		v.tighten(file, one, one.Rule.Else, policy.Reason{Unmet: state.text(limit), Again: state.again})
	}
}

func stricter(a, b policy.Judgement) policy.Judgement {
	if b.Verdict > a.Verdict {
		return b
	}
	return a
}
