package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Asker asks a person whether a call may be sent.
type Asker interface {
	// Ask returns nil if the call is approved. It must return soon after ctx ends.
	Ask(ctx context.Context, question *Question) (refusal *call.Failure)
}

// Question is a call that a person is asked about. Its parts are valid until Ask returns.
type Question struct {
	Call   *call.Call
	Caller string
	Ref    toolbox.Ref
	Reason Reason
	Ask    config.PolicyAsk
}

// Ledger counts calls, for rules that limit them. It may read and write files.
type Ledger interface {
	// Take counts a call for all claims, or for none of them: if one of them is at its limit, over is its index, and
	// again is the time after which a call is free. Otherwise over is -1. With an error, nothing was counted.
	Take(claims []Claim) (over int, again time.Duration, err error)
}

// Claim is one call of what a rule allows to a caller.
type Claim struct {
	Rule     *config.PolicyRule // with a Limit
	Caller   string
	Approved bool // a person allowed it: it is counted beyond the limit, too
}

// StageOptions are what a stage works with.
type StageOptions struct {
	Asker  Asker  // nil: nobody can be asked
	Ledger Ledger // nil: what has a limit is denied
	// Rounds know which requests continue a call. They have to observe the calls. nil: none does.
	Rounds *Rounds
	// Current returns the policy in force, which may have changed while the server of a call started, or a person was
	// asked. nil: it is always the stage's own.
	Current func() *Policy
}

// Stage applies a policy to calls. It implements call.Screener and call.Admitter.
type Stage struct {
	policy  *Policy
	options StageOptions
}

// NewStage makes the stage of a policy.
func NewStage(policy *Policy, options StageOptions) *Stage {
	if options.Current == nil {
		options.Current = func() *Policy { return policy }
	}
	return &Stage{policy, options}
}

// nextStep is for the model that called a tool which is denied.
func nextStep(caller string) string {
	return "Do not try again: use another tool, or " + askToChange(caller) + "."
}

// refusal is the error of a call that is denied.
func refusal(caller string, reason Reason) *call.Failure {
	hint := nextStep(caller)
	switch {
	case reason.Again > 0:
		hint = "Try again later, use another tool, or " + askToChange(caller) + "."
	case reason.Unmet != "":
		hint = "Other arguments may be allowed. Otherwise use another tool, or " + askToChange(caller) + "."
	}
	return &call.Failure{Message: "it " + reason.ShownTo(caller).String(), Hint: hint, Rule: reason.Where()}
}

// Screen implements call.Screener: it refuses calls that are denied whatever the tool's definition is, so that no server
// is started for them.
func (s *Stage) Screen(request *call.Call) *call.Failure {
	if request.Method != protocol.MethodToolsCall {
		return nil
	}
	q := queryOf(request)
	if s.policy.passes(&q) { // Admit decides
		return nil
	}
	if reason, isDenied := s.policy.Denial(&q); isDenied {
		return refusal(q.Caller, reason)
	}
	return nil
}

// queryOf returns the query about a call, without the folder, which costs more to find out.
func queryOf(request *call.Call) Query {
	return Query{
		Caller: request.Client.Profile().Caller(),
		Ref:    toolbox.Ref{Toolbox: request.Server.Toolbox(), Server: request.Server.Name(), Name: request.Name},
		Tool:   request.Tool, HintsDoubted: request.HintsDoubted, Arguments: request.Arguments,
	}
}

// locate fills in where relative paths of a call start.
func (q *Query) locate(request *call.Call) {
	profile := request.Client.Profile()
	q.Folder, q.Others = request.Server.Folder(profile), request.Server.NamedFolders(profile)
}

// Admit implements call.Admitter.
func (s *Stage) Admit(request *call.Call) (verdict call.Verdict) {
	if request.Method != protocol.MethodToolsCall {
		return verdict
	}
	if request.Tool.IsAbsent() {
		verdict.Refusal = &call.Failure{Message: "its server does not list it, so that the policy cannot judge it", Hint: nextStep(request.Client.Profile().Caller())}
		return verdict
	}
	policy := s.options.Current()
	if policy == nil {
		return verdict
	}
	q := queryOf(request)
	plan := policy.planFor(&q)
	if len(plan.requires) > 0 {
		q.locate(request)
	}
	judgement := plan.judge(&q)
	switch {
	case judgement.Verdict == config.Deny:
		verdict.Refusal = refusal(q.Caller, judgement.Reason)
	case judgement.Verdict == config.Ask || len(plan.limits) > 0:
		verdict.Wait = func(ctx context.Context) *call.Failure { return s.decide(ctx, request, policy, judgement) }
	}
	return verdict
}

// decide asks a person where the policy wants that, and counts the call where it is limited; unless the request is the next
// round of a call for which that was done.
func (s *Stage) decide(ctx context.Context, request *call.Call, policy *Policy, judgement Judgement) *call.Failure {
	q := queryOf(request)
	q.locate(request)
	isApproved := judgement.Verdict == config.Ask
	now := roundOf(request, &q)
	if s.options.Rounds.resume(request, now, policy, isApproved) {
		return nil
	}
	if isApproved {
		var refused *call.Failure
		if policy, refused = s.approve(ctx, request, policy, &q, judgement.Reason); refused != nil {
			return refused
		}
	}
	over, failure := s.take(policy, &q, isApproved)
	switch {
	case failure != nil:
		return failure
	case over.Verdict == config.Deny: // as all are of a call that is approved
		return refusal(q.Caller, over.Reason)
	case over.Verdict == config.Ask:
		if policy, failure = s.approve(ctx, request, policy, &q, over.Reason); failure != nil {
			return failure
		}
		isApproved = true
		if over, failure = s.take(policy, &q, true); failure != nil {
			return failure
		}
		if over.Verdict != 0 {
			return refusal(q.Caller, over.Reason)
		}
	}
	now.policy, now.isApproved = policy, isApproved
	s.options.Rounds.begin(request, now)
	return nil
}

// approve asks a person, and judges the call again with the policy that is in force then, which it returns. If that one has
// others asked, they are.
func (s *Stage) approve(ctx context.Context, request *call.Call, by *Policy, q *Query, reason Reason) (*Policy, *call.Failure) {
	for {
		if refused := s.ask(ctx, request, by, q, reason); refused != nil {
			return nil, refused
		}
		policy := s.options.Current()
		judgement := policy.Judge(q)
		switch {
		case judgement.Verdict == config.Deny:
			return nil, refusal(q.Caller, judgement.Reason)
		case judgement.Verdict != config.Ask || slices.Equal(policy.ask.Via, by.ask.Via):
			return policy, nil
		}
		by, reason = policy, judgement.Reason
	}
}

func (s *Stage) ask(ctx context.Context, request *call.Call, by *Policy, q *Query, reason Reason) *call.Failure {
	if s.options.Asker == nil {
		return &call.Failure{
			Message: "it needs approval by the policy (" + reason.ShownTo(q.Caller).Where() + "), and nobody can be asked", Hint: nextStep(q.Caller), Rule: reason.Where(),
		}
	}
	return s.options.Asker.Ask(ctx, &Question{Call: request, Caller: q.Caller, Ref: q.Ref, Reason: reason, Ask: by.ask})
}

// take counts a call that everything else admits. If it is beyond a limit, it returns the verdict of that; otherwise
// the zero value.
func (s *Stage) take(policy *Policy, q *Query, isApproved bool) (over Judgement, failure *call.Failure) {
	if policy == nil {
		return over, nil
	}
	limits := policy.planFor(q).limits
	if len(limits) == 0 {
		return over, nil
	}
	claims := make([]Claim, len(limits))
	for i, found := range limits {
		claims[i] = Claim{Rule: found.rule, Caller: q.Caller, Approved: isApproved && found.rule.Else == config.Ask}
	}
	first := limits[0].reason("").ShownTo(q.Caller).Where()
	if s.options.Ledger == nil {
		return over, &call.Failure{Message: "it is limited by the policy (" + first + "), and calls cannot be counted here"}
	}
	at, again, err := s.options.Ledger.Take(claims)
	switch {
	case err != nil && config.MayBeElsewhere(q.Caller): // the error may name files
		return over, &call.Failure{Message: "it is limited by the policy (" + first + "), and calls cannot be counted", Hint: "Ask " + Advisers(q.Caller) + ".", Cause: err}
	case err != nil:
		return over, &call.Failure{Message: fmt.Sprintf("it is limited by the policy (%s), and calls cannot be counted: %v", first, err), Cause: err}
	case at < 0:
		return over, nil
	}
	found := limits[at]
	reason := found.reason(beyond(found.rule.Limit, again))
	reason.Again = again
	return Judgement{found.rule.Else, reason}, nil
}

// beyond says that a limit is reached.
func beyond(limit *config.PolicyLimit, again time.Duration) string {
	calls := "calls are"
	if limit.Calls == 1 {
		calls = "call is"
	}
	return fmt.Sprintf("%d %s allowed in %s, and the next one is free in %s", limit.Calls, calls, span(limit.Window), span(max(again, time.Second)))
}

// span writes a duration without what is zero, and with days.
func span(d time.Duration) string {
	d = d.Round(time.Second)
	text := ""
	if days := d / (24 * time.Hour); days > 0 {
		text = fmt.Sprintf("%dd", days)
		if d -= days * 24 * time.Hour; d == 0 {
			return text
		}
	}
	rest := d.String()
	if d >= time.Minute {
		for _, zero := range []string{"m0s", "h0m"} {
			if strings.HasSuffix(rest, zero) {
				rest = rest[:len(rest)-2]
			}
		}
	}
	return text + rest
}
