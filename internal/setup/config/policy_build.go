package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/condition"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// policy reads the policy of the file. Mistakes in single keys are already reported.
func (b *builder) policy(root *node) Policy {
	policy := Policy{Ask: defaultAsk()}
	n := root.get("policy")
	if n == nil || n.kind != kindObject {
		return policy
	}
	if ask := n.get("ask"); ask != nil && ask.kind == kindObject {
		policy.Ask = b.ask(ask)
	}
	file := PolicyFile{Path: b.from, Default: Allow}
	if verdict := ParseVerdict(n.get("default").string()); verdict != 0 {
		file.Default = verdict
	}
	for _, m := range n.get("classes").entries() {
		file.Classes = append(file.Classes, PolicyClass{Tools: toolbox.Pattern(m.name), Class: m.value.string()})
		if class := m.value.string(); class != ClassReads && class != "" && !m.value.unresolved {
			below := rootPlace.member("policy").member("classes").member(m.raw)
			b.report.warn(m.value.offset, below.at, below.describe("is "+quote(m.value.raw)+", a class without an effect"), "the class with an effect is 'reads'")
		}
	}
	eachRule(root, func(n *node, p place) { file.Rules = append(file.Rules, b.rule(n, p)) })
	if file.Default != Allow || len(file.Classes)+len(file.Rules) > 0 {
		policy.Files = []PolicyFile{file}
	}
	return policy
}

func (b *builder) ask(n *node) PolicyAsk {
	ask := defaultAsk()
	p := rootPlace.member("policy").member("ask")
	if via := n.get("via"); via != nil && via.kind == kindArray {
		if ask.Via = via.strings(); len(ask.Via) == 0 {
			p = p.member("via")
			b.report.fail(via.offset, p.at, p.describe("must not be empty"), exampleHint(policyAskObject.key("via")))
		}
	}
	n.duration("timeout", &ask.Timeout)
	return ask
}

// rule reads one rule, and checks that its keys go together.
func (b *builder) rule(n *node, p place) PolicyRule {
	rule := PolicyRule{
		Tools: b.patterns(n.get("tools"), p.member("tools")), Except: b.patterns(n.get("except"), p.member("except")),
		Callers: b.texts(n.get("callers"), p.member("callers")),
		Then:    ParseVerdict(n.get("then").string()), Else: ParseVerdict(n.get("else").string()),
		ArgumentSecrets: secretAction(n.get("arguments")), ResultSecrets: secretAction(n.get("results")),
		Because: n.get("because").string(), File: b.from, Line: b.report.line(n.offset),
	}
	if hints := n.get("hints"); hints != nil {
		rule.Hints = PolicyHints{hints.flag("readOnly"), hints.flag("destructive"), hints.flag("idempotent"), hints.flag("openWorld")}
		if rule.Hints.IsEmpty() && len(hints.members) == 0 && hints.kind == kindObject {
			b.report.fail(hints.offset, p.member("hints").at, p.member("hints").describe("must not be empty"), exampleHint(policyRuleObject.key("hints")))
		}
	}
	for _, m := range n.get("require").entries() {
		rule.Require = append(rule.Require, b.requirement(&m, p.member("require").member(m.raw)))
	}
	if limit, ok := parseRate(n.get("limit").get("calls").string()); ok {
		rule.Limit = &limit
	}
	b.checkRule(n, &rule, p)
	return rule
}

// checkRule checks which keys a rule has.
func (b *builder) checkRule(n *node, rule *PolicyRule, p place) {
	if n.lacks("tools") && n.lacks("hints") && n.lacks("callers") {
		b.report.fail(n.offset, p.at, p.subject+" must have a 'tools' field, which is a pattern or a list of patterns, or 'hints' or 'callers'",
			exampleHint(policyRuleObject.key("tools")))
	}
	conditions := slices.DeleteFunc([]string{"require", "limit", "arguments", "results"}, func(name string) bool { return n.get(name) == nil })
	then, orElse := n.get("then"), n.get("else")
	switch {
	case then != nil && len(conditions) > 0:
		b.report.fail(then.offset, p.member("then").at, fmt.Sprintf("%s: 'then' and '%s' cannot be given together", p.subject, conditions[0]),
			"'require' and 'limit' say what must hold, and 'else' what happens otherwise; write two rules")
	case then == nil && len(conditions) == 0 && n.lacks("then"):
		b.report.fail(n.offset, p.at, p.subject+" must have a 'then' field, or 'require', 'limit', 'arguments' or 'results'", exampleHint(policyRuleObject.key("then")))
	}
	hasRequirement := n.get("require") != nil || n.get("limit") != nil
	switch {
	case orElse != nil && !hasRequirement:
		b.report.fail(orElse.offset, p.member("else").at, p.subject+": 'else' needs a 'require' or a 'limit'", "the verdict of a rule without them is 'then'")
	case hasRequirement && rule.Else == 0:
		rule.Else = Deny
	}
	if require := n.get("require"); require != nil && require.kind == kindObject && len(require.members) == 0 {
		b.report.fail(require.offset, p.member("require").at, p.member("require").describe("must not be empty"), exampleHint(policyRuleObject.key("require")))
	}
}

func (b *builder) requirement(m *member, p place) condition.Requirement {
	n := &m.value
	r := condition.Requirement{Argument: m.name}
	within := n.get("within")
	for _, one := range within.each() {
		r.Within = append(r.Within, b.file(one, p.member("within")))
	}
	for _, one := range n.get("hosts").each() {
		if host, err := condition.ParseHost(one.text); err == nil {
			r.Hosts = append(r.Hosts, host)
		}
	}
	r.ReadsOnly = n.get("sql").string() == "read"
	if matches := n.get("matches"); matches != nil && matches.kind == kindString && !matches.unresolved {
		r.Matches, _ = condition.ParsePattern(matches.text) // a mistake was reported
	}
	for _, one := range n.get("oneOf").each() {
		r.OneOf = append(r.OneOf, one.literal())
	}
	if most := n.get("atMost"); most != nil && most.kind == kindInteger {
		r.AtMost, _ = condition.ParseNumber(most.text)
	}
	if n.kind == kindObject && len(n.members) == 0 {
		b.report.fail(n.offset, p.at, p.describe("must not be empty"), exampleHint(policyRuleObject.key("require")))
	}
	for _, name := range []string{"within", "hosts", "oneOf"} {
		if list := n.get(name); list != nil && list.kind == kindArray && len(list.elements) == 0 {
			b.report.fail(list.offset, p.member(name).at, p.member(name).describe("must not be empty"), exampleHint(conditionObject.key(name)))
		}
	}
	return r
}

// literal returns a scalar as JSON.
func (n *node) literal() wire.Payload {
	if n.kind == kindString {
		return wire.Raw(wire.AppendString(nil, n.text))
	}
	return wire.Raw([]byte(n.text))
}

// each returns the strings of a value that is one or a list of them.
func (n *node) each() (all []*node) {
	switch {
	case n == nil:
	case n.kind == kindArray:
		for i := range n.elements {
			all = append(all, &n.elements[i])
		}
	default:
		all = append(all, n)
	}
	return all
}

func (n *node) flag(name string) *bool {
	value := n.get(name)
	if value == nil || value.kind != kindBoolean {
		return nil
	}
	isTrue := value.isTrue()
	return &isTrue
}

func secretAction(n *node) SecretAction {
	switch n.get("secrets").string() {
	case "mask":
		return SecretsMask
	case "deny":
		return SecretsDeny
	}
	return 0
}

func (b *builder) texts(n *node, p place) (texts []string) {
	if n != nil && n.kind == kindArray && len(n.elements) == 0 {
		b.report.fail(n.offset, p.at, p.describe("must not be empty"), exampleHint(policyRuleObject.key(p.field.key)))
	}
	for _, one := range n.each() {
		texts = append(texts, one.text)
	}
	return texts
}

func (b *builder) patterns(n *node, p place) (patterns []toolbox.Pattern) {
	for _, text := range b.texts(n, p) {
		patterns = append(patterns, toolbox.Pattern(text))
	}
	return patterns
}

// eachRule calls visit with every rule of the file that is an object.
func eachRule(root *node, visit func(rule *node, p place)) {
	rules := root.get("policy").get("rules")
	if rules == nil {
		return
	}
	p := rootPlace.member("policy").member("rules")
	for i := range rules.elements {
		if rule := &rules.elements[i]; rule.kind == kindObject {
			visit(rule, p.numbered(policyObject.key("rules").noun, i))
		}
	}
}

// eachPattern calls visit with every pattern of a key: it is a string or an array.
func eachPattern(rule *node, name string, p place, visit func(pattern *node, p place)) {
	n := rule.get(name)
	p = p.member(name)
	for i, one := range n.each() {
		if n.kind == kindArray {
			visit(one, p.element(i))
		} else {
			visit(one, p)
		}
	}
}

// warnOfPolicy warns about patterns that match nothing, and about tools that are both pinned and denied.
func (b *builder) warnOfPolicy(root *node, boxes []Toolbox, pinned []toolbox.Ref) {
	if user := b.opts.User; user != nil {
		boxes, pinned = slices.Concat(boxes, user.Toolboxes), user.Discovery.Pinned
	}
	warn := func(offset int, raw, text string, p place) {
		if text != "" && !mayMatch(toolbox.Pattern(text), boxes) {
			b.report.warn(offset, p.at, p.subject+": "+quote(raw)+unmatchedPattern, patternHint(text, boxes))
		}
	}
	classes := rootPlace.member("policy").member("classes")
	for _, m := range root.get("policy").get("classes").entries() {
		if !m.unresolved {
			warn(m.offset, m.raw, m.name, classes.member(m.raw))
		}
	}
	eachRule(root, func(rule *node, p place) {
		for _, name := range []string{"tools", "except"} {
			eachPattern(rule, name, p, func(n *node, p place) {
				if n.kind == kindString && !n.unresolved {
					warn(n.offset, n.raw, n.text, p)
				}
			})
		}
		if rule.get("then").string() == Deny.String() && rule.get("hints") == nil && rule.get("callers") == nil && rule.get("except") == nil {
			eachPattern(rule, "tools", p, func(n *node, p place) { b.warnOfPinned(n, p, pinned) })
		}
	})
}

func (b *builder) warnOfPinned(n *node, p place, pinned []toolbox.Ref) {
	if n.unresolved {
		return
	}
	for _, ref := range pinned {
		if toolbox.Pattern(n.text).Matches(ref) {
			b.report.warn(n.offset, p.at, fmt.Sprintf("%s: %s denies the tool %s, which is pinned; it is not offered",
				p.subject, quote(n.raw), quote(ref.Toolbox+"/"+ref.Server+"/"+ref.Name)), "change the rule, or remove the tool from 'pinned'")
		}
	}
}

// unmatchedPattern is the end of the warning about a pattern that matches nothing.
const unmatchedPattern = " matches no toolbox and server that is configured"

func mayMatch(pattern toolbox.Pattern, boxes []Toolbox) bool {
	return slices.ContainsFunc(boxes, func(box Toolbox) bool {
		return slices.ContainsFunc(box.Servers, func(server Server) bool { return pattern.MayMatch(box.Name, server.Name) })
	})
}

// patternHint suggests a correction of a pattern that matches nothing.
func patternHint(text string, boxes []Toolbox) string {
	if whole := strings.TrimSuffix(text, "/") + "/*"; mayMatch(toolbox.Pattern(whole), boxes) {
		return "for all of it, write " + quote(whole)
	}
	var names []string
	for _, box := range boxes {
		names = append(names, box.Name)
	}
	first, rest, _ := strings.Cut(text, "/")
	if near := toolbox.Nearest(first, names, 1); len(near) > 0 && near[0] != first {
		return "did you mean " + quote(near[0]+"/"+rest) + "?"
	}
	return `a pattern is "toolbox/server/tool", in which '*' matches any characters`
}

// WarningsBeside returns the warnings of a user's file that remain valid with a project's file on top: a pattern that
// matches none of the user's toolboxes may match one of the project's.
func (c *Config) WarningsBeside(project *Config) []Problem {
	warnings := c.grantWarningsBeside(project)
	for _, pattern := range c.Policy.patterns() {
		if mayMatch(pattern, project.Toolboxes) {
			warnings = slices.DeleteFunc(warnings, func(warning Problem) bool {
				return strings.HasSuffix(warning.Message, ": "+quote(string(pattern))+unmatchedPattern)
			})
		}
	}
	return warnings
}

func (p *Policy) patterns() (all []toolbox.Pattern) {
	for _, file := range p.Files {
		for _, class := range file.Classes {
			all = append(all, class.Tools)
		}
		for _, rule := range file.Rules {
			all = slices.Concat(all, rule.Tools, rule.Except)
		}
	}
	return all
}
