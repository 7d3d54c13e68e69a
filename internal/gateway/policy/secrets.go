package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// HasSecretRules reports whether a rule is about secrets in arguments or results.
func (p *Policy) HasSecretRules() bool {
	return p != nil && slices.ContainsFunc(p.files, func(file config.PolicyFile) bool {
		return slices.ContainsFunc(file.Rules, func(rule config.PolicyRule) bool { return rule.ArgumentSecrets != 0 || rule.ResultSecrets != 0 })
	})
}

// taskSecrets returns what happens to secrets in what a server says of its tasks. It is not known which tool a task is
// of, so all rules count that can be about a tool of the server.
func (p *Policy) taskSecrets(caller, box, server string) (results SecretRule) {
	for _, file := range p.files {
		for i := range file.Rules {
			rule := &file.Rules[i]
			if rule.ResultSecrets <= results.Action || rule.Callers != nil && !slices.Contains(rule.Callers, caller) {
				continue
			}
			found := matched{rule: rule}
			if rule.Tools != nil {
				at := slices.IndexFunc(rule.Tools, func(pattern toolbox.Pattern) bool { return pattern.MayMatch(box, server) })
				if at < 0 {
					continue
				}
				found.pattern = rule.Tools[at]
			}
			results = SecretRule{rule.ResultSecrets, found.reason("")}
		}
	}
	return results
}

// Revise implements call.Reviser: it masks or refuses secrets of known forms, where a rule wants that.
func (s *Stage) Revise(request *call.Call) (revision call.Revision) {
	var arguments, results SecretRule
	policy := s.options.Current()
	switch {
	case policy == nil:
	case request.Method == protocol.MethodToolsCall:
		q := queryOf(request)
		arguments, results = policy.Secrets(&q)
	case strings.HasPrefix(request.Method, "tasks/"):
		results = policy.taskSecrets(request.Client.Profile().Caller(), request.Server.Toolbox(), request.Server.Name())
	}
	if results.Action != 0 {
		revision.Answers = answerGuard{results, request.Client.Profile().Caller()}
	}
	if arguments.Action == 0 || request.Arguments.IsAbsent() {
		return revision
	}
	found := search{}
	found.value(request.Arguments, nil)
	switch {
	case found.kind == "":
	case arguments.Action == config.SecretsDeny:
		arguments.Reason.Unmet = fmt.Sprintf("the argument '%s' contains a secret (%s)", found.path, found.kind)
		revision.Refusal = refusal(request.Client.Profile().Caller(), arguments.Reason)
	default:
		revision.Arguments = found.masked(request.Arguments)
	}
	return revision
}

// answerGuard keeps secrets out of what a server sends for a call. It implements call.AnswerReviser.
type answerGuard struct {
	rule   SecretRule
	caller string
}

// Response implements call.AnswerReviser.
func (g answerGuard) Response(value wire.Payload) (wire.Payload, *call.Failure) {
	found := search{isAnswer: true}
	found.value(value, nil)
	switch {
	case found.kind == "":
		return value, nil
	case g.rule.Action == config.SecretsMask || isInterim(value):
		return found.masked(value), nil
	}
	text := fmt.Sprintf("its answer is withheld by the policy (%s), since '%s' contains a secret (%s)", g.rule.Reason.ShownTo(g.caller).Where(), found.path, found.kind)
	if because := g.rule.Reason.Why(); because != "" {
		text += ": " + because
	}
	return value, &call.Failure{
		Message: text,
		Hint:    "The tool has run: do not call it again for the same answer. Use another tool, or " + askToChange(g.caller) + ".",
	}
}

// isInterim reports whether an answer is not the final one of a call, so that there is no result to refuse yet: it asks
// for input, or tells of a task that goes on.
func isInterim(answer wire.Payload) bool {
	switch kind, _ := answer.Member(protocol.ResultType).Text(); kind {
	case protocol.ResultInputRequired, protocol.ResultTask:
		return true
	}
	switch status, _ := answer.Member("status").Text(); status {
	case "working", "input_required":
		return answer.Member(protocol.SubjectTask).Kind() == "string" && answer.Member("result").IsAbsent() && answer.Member("content").IsAbsent()
	}
	return false
}

// Interim implements call.AnswerReviser. What comes before the response is masked in any case: there is nothing to refuse.
func (g answerGuard) Interim(params wire.Payload) wire.Payload {
	found := search{isAnswer: true, inQuestion: true}
	found.value(params, nil)
	if found.kind == "" {
		return params
	}
	return found.masked(params)
}

// Text implements call.AnswerReviser.
func (g answerGuard) Text(text string) string {
	text, _ = secret.MaskForms(text)
	return text
}
