package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// Policy denies tools. The zero value allows all.
type Policy struct {
	Rules []PolicyRule // of all files; the order has no meaning
}

// PolicyRule denies tools.
type PolicyRule struct {
	Tools   []toolbox.Pattern
	Because string // may be empty
	File    string // the file that contains it
	Line    int    // in the file; 0 for an assumed rule, see Withheld
}

// Match returns the first pattern of the rule that matches a tool.
func (r *PolicyRule) Match(ref toolbox.Ref) (toolbox.Pattern, bool) {
	for _, pattern := range r.Tools {
		if pattern.Matches(ref) {
			return pattern, true
		}
	}
	return "", false
}

var policyKey = key{
	name: "policy", kinds: []kind{kindObject}, members: &policyObject, example: `{"rules": [{"tools": "prod/*", "then": "deny"}]}`,
	description: "The tools that may be used. An unknown key in it is an error, since a partly understood rule could allow too much.",
}

var policyObject = object{isStrict: true, keys: []key{{
	name: "rules", kinds: []kind{kindArray}, noun: "Policy rule", members: &policyRuleObject,
	example:     `[{"tools": "*/*/delete_*", "then": "deny", "because": "nothing is deleted from here"}]`,
	description: "The rules. Their order has no meaning: a tool is denied if any rule denies it.",
}}}

var policyRuleObject = object{isStrict: true, keys: []key{
	{
		name: "tools", kinds: []kind{kindString, kindArray}, nonEmpty: true, check: func(text string) string { return toolbox.Pattern(text).Check() },
		required: "must have a 'tools' field, which is a pattern or a list of patterns", example: `["prod/*", "*/github/delete_*"]`,
		description: "The tools of the rule: a pattern or a list of patterns for \"toolbox/server/tool\". A \"*\" matches any characters, \"/\" included, \"\\\\\" escapes the next character, and nothing else is special.",
	},
	{
		name: "then", kinds: []kind{kindString}, enum: []string{"deny"}, required: "must have a 'then' field",
		description: "The effect of the rule: with \"deny\" the tools are neither listed nor found, and cannot be called.",
	},
	{
		name: "because", kinds: []kind{kindString}, example: `"production is read-only"`,
		description: "The reason, shown in the error of a denied call.",
	},
}}

// mayMeanPolicy reports whether a key is 'policy', or can be a mistyped one. Its rules must not be ignored then.
func mayMeanPolicy(key string) bool {
	key = strings.ToLower(key)
	return strings.HasPrefix(key, "polic") || toolbox.EditDistance(key, policyKey.name) <= 2
}

// eachRule calls visit with every rule of the file that is an object.
func eachRule(root *node, visit func(rule *node, p place)) {
	policy := root.get("policy")
	if policy == nil {
		return
	}
	if rules := policy.get("rules"); rules != nil {
		p := rootPlace.member("policy").member("rules")
		for i := range rules.elements {
			if rule := &rules.elements[i]; rule.kind == kindObject {
				visit(rule, p.numbered(policyObject.key("rules").noun, i))
			}
		}
	}
}

// eachPattern calls visit with every pattern of a rule: 'tools' is a string or an array.
func eachPattern(rule *node, p place, visit func(pattern *node, p place)) {
	tools := rule.get("tools")
	p = p.member("tools")
	switch {
	case tools == nil:
	case tools.kind == kindString:
		visit(tools, p)
	default:
		for i := range tools.elements {
			visit(&tools.elements[i], p.element(i))
		}
	}
}

// policy reads the rules. Mistakes in single keys are already reported.
func (b *builder) policy(root *node) (policy Policy) {
	eachRule(root, func(n *node, p place) {
		rule := PolicyRule{Because: n.get("because").string(), File: b.from, Line: b.report.line(n.offset)}
		eachPattern(n, p, func(pattern *node, _ place) { rule.Tools = append(rule.Tools, toolbox.Pattern(pattern.text)) })
		if tools := n.get("tools"); tools != nil && tools.kind == kindArray && len(tools.elements) == 0 {
			p = p.member("tools")
			b.report.fail(tools.offset, p.at, p.describe("must not be empty"), exampleHint(policyRuleObject.key("tools")))
		}
		policy.Rules = append(policy.Rules, rule)
	})
	return policy
}

// warnOfPolicy warns about patterns that match nothing, and about tools that are both pinned and denied.
func (b *builder) warnOfPolicy(root *node, boxes []Toolbox, pinned []toolbox.Ref) {
	if user := b.opts.User; user != nil {
		boxes, pinned = slices.Concat(boxes, user.Toolboxes), user.Discovery.Pinned
	}
	eachRule(root, func(rule *node, p place) {
		eachPattern(rule, p, func(n *node, p place) {
			if n.unresolved || n.text == "" {
				return
			}
			pattern := toolbox.Pattern(n.text)
			if !mayMatch(pattern, boxes) {
				b.report.warn(n.offset, p.at, p.subject+": "+quote(n.raw)+unmatchedPattern, patternHint(n.text, boxes))
			}
			for _, ref := range pinned {
				if pattern.Matches(ref) {
					b.report.warn(n.offset, p.at, fmt.Sprintf("%s: %s denies the tool %s, which is pinned; it is not offered",
						p.subject, quote(n.raw), quote(ref.Toolbox+"/"+ref.Server+"/"+ref.Name)), "change the rule, or remove the tool from 'pinned'")
				}
			}
		})
	})
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
		return "to deny all of it, write " + quote(whole)
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
	warnings := slices.Clone(c.Warnings)
	for _, rule := range c.Policy.Rules {
		for _, pattern := range rule.Tools {
			if mayMatch(pattern, project.Toolboxes) {
				warnings = slices.DeleteFunc(warnings, func(warning Problem) bool {
					return strings.HasSuffix(warning.Message, ": "+quote(string(pattern))+unmatchedPattern)
				})
			}
		}
	}
	return warnings
}

// assumedPolicy denies all tools, for an unusable file that may have a policy.
func assumedPolicy(path string) Policy {
	return Policy{Rules: []PolicyRule{{
		Tools: []toolbox.Pattern{"*"}, File: path,
		Because: "this file cannot be used, and may deny any tool; until it is mended, no tool is allowed",
	}}}
}
