package main

import (
	"errors"
	"fmt"
)

// Names of what is found about calls under a policy.
const (
	policyTime        = "use_tool under rules without conditions / without a policy, p50"
	policyAllocations = "allocations of a call under rules without conditions, more than without a policy"
)

// policyRounds is how often all ways are measured, in turn: they differ by little.
const policyRounds = 25

// withoutPolicy is the way that the others are compared with.
const withoutPolicy = "no policy"

// policies are what calls are measured under. None refuses the call.
var policies = []struct {
	name, time, allocations string
	rules                   []map[string]any
}{
	{name: withoutPolicy},
	{
		"unrelated", "use_tool under 12 rules about other tools / without a policy, p50", "allocations of a call under 12 rules about other tools, more than without a policy",
		repeated(12, func(i int) map[string]any {
			return map[string]any{"tools": fmt.Sprintf("prod-%d/*/delete_*", i), "then": "ask"}
		}),
	},
	{"related", policyTime, policyAllocations, []map[string]any{
		{"tools": boxName + "/*", "then": "allow"},
		{"hints": map[string]any{"readOnly": true}, "then": "ask"},
		{"callers": []string{"token:ci"}, "hints": map[string]any{"readOnly": false}, "then": "deny"},
		{"tools": "*/*/delete_*", "then": "ask"},
	}},
	{
		"pattern", "use_tool under a rule with a regular expression / without a policy, p50", "allocations of a call under a rule with a regular expression, more than without a policy",
		[]map[string]any{{"tools": boxName + "/*", "require": map[string]any{"text": map[string]any{"matches": "x*"}}}},
	},
	{
		"path", "use_tool under a rule with a path / without a policy, p50", "allocations of a call under a rule with a path, more than without a policy",
		[]map[string]any{{"tools": boxName + "/*", "require": map[string]any{"text": map[string]any{"within": []string{"."}}}}},
	},
}

func repeated(n int, rule func(int) map[string]any) (rules []map[string]any) {
	for i := range n {
		rules = append(rules, rule(i))
	}
	return rules
}

// measurePolicy compares calls under rules with the same call without a policy, in the same rounds.
func (b *bench) measurePolicy() (err error) {
	l := &lane{name: "policy", loads: []load{{"10 B", 1, 10, 1000}}}
	defer func() { err = errors.Join(err, l.stop()) }()
	for _, policy := range policies {
		// In its folder, so that the path that the call names is within it.
		server := map[string]any{"command": b.self, "args": []string{"echo"}, "cwd": b.folder}
		config := map[string]any{"toolboxes": map[string]any{boxName: map[string]any{
			"description": "bench", "mcpServers": map[string]any{serverName: server},
		}}}
		if policy.rules != nil {
			config["policy"] = map[string]any{"rules": policy.rules}
		}
		path, err := b.write(config)
		if err != nil {
			return err
		}
		if err := b.addConfigured(b.binary, policy.name, "stdio", "proxy", path, l.add); err != nil {
			return fmt.Errorf("%s: %w", policy.name, err)
		}
	}
	if err := l.measure(policyRounds); err != nil {
		return err
	}
	for _, policy := range policies {
		if policy.name == withoutPolicy {
			continue
		}
		found := l.ratios(l.loads[0], l.way(policy.name), l.way(withoutPolicy))
		b.note(policy.time, found.p50, "x", fmt.Sprintf("CPU of the workbench %.2fx; median of %d rounds", found.cpu, policyRounds))
		b.note(policy.allocations, found.allocs, "", "")
	}
	return nil
}
