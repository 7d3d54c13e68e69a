// Package policycheck shows a person how the policy judges calls: explained rule by rule, tested with cases, and suggested
// from what tools declare.
package policycheck

import (
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
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
}

// limitState is how far a limit is used.
type limitState struct {
	used  int
	again time.Duration
	err   error // why that is not known
}

func (s limitState) isReached(limit *config.PolicyLimit) bool {
	return s.err != nil || s.used >= limit.Calls
}

// judge judges a call, with the limits that rules set.
func judge(rules *policy.Policy, q *policy.Query, counter Counter) verdict {
	explained := rules.Explain(q)
	v := verdict{Judgement: explained.Judgement, explained: explained, limits: make(map[*config.PolicyRule]limitState)}
	for i := range explained.Files {
		file := &explained.Files[i]
		for j := range file.Rules {
			one := &file.Rules[j]
			if !one.Matches || one.Rule.Limit == nil {
				continue
			}
			var state limitState
			state.used, state.again, state.err = counter.Used(policy.Claim{Rule: one.Rule, Caller: q.Caller})
			v.limits[one.Rule] = state
			if !state.isReached(one.Rule.Limit) {
				continue
			}
			over := policy.Judgement{Verdict: one.Rule.Else, Reason: policy.Reason{
				Rule: one.Rule, Pattern: one.Pattern, File: one.Rule.File, Unmet: "the limit is reached", Again: state.again,
			}}
			one.Verdict = max(one.Verdict, over.Verdict)
			file.Judgement = stricter(file.Judgement, over)
			v.Judgement = stricter(v.Judgement, over)
		}
	}
	return v
}

func stricter(a, b policy.Judgement) policy.Judgement {
	if b.Verdict > a.Verdict {
		return b
	}
	return a
}
