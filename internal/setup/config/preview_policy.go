package config

import "github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"

// previewPolicy adds the policy, which can restrict the tools of other files, too: each rule, and each other key.
func (p *Preview) previewPolicy(policy *node) {
	for _, m := range policy.entries() {
		if m.name != "rules" || m.value.kind != kindArray {
			p.Policy = append(p.Policy, Variable{m.raw, string(m.value.appendWritten(nil))})
			continue
		}
		for i := range m.value.elements {
			p.Policy = append(p.Policy, Variable{"rule", string(m.value.elements[i].appendWritten(nil))})
		}
	}
	p.recordAllUnclear(policy)
}

// recordAllUnclear is recordUnclear for a value with all that it contains.
func (p *Preview) recordAllUnclear(n *node) {
	if n == nil {
		return
	}
	p.recordUnclear(n)
	for i := range n.members {
		p.recordAllUnclear(&n.members[i].value)
	}
	for i := range n.elements {
		p.recordAllUnclear(&n.elements[i])
	}
}

// appendWritten appends a value as JSON on one line, with variables as written.
func (n *node) appendWritten(to []byte) []byte {
	switch n.kind {
	case kindString:
		return wire.AppendString(to, n.raw)
	case kindObject:
		to = append(to, '{')
		for i := range n.members {
			if i > 0 {
				to = append(to, ", "...)
			}
			to = append(wire.AppendString(to, n.members[i].raw), ": "...)
			to = n.members[i].value.appendWritten(to)
		}
		return append(to, '}')
	case kindArray:
		to = append(to, '[')
		for i := range n.elements {
			if i > 0 {
				to = append(to, ", "...)
			}
			to = n.elements[i].appendWritten(to)
		}
		return append(to, ']')
	}
	return append(to, n.raw...)
}
