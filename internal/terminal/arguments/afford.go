package arguments

import (
	"regexp/syntax"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Limits of a schema that arguments are checked against as a whole. A server may send any schema, including a recursive
// one that would exhaust the stack.
const (
	maxApplied  = 2000     // schemas that apply to one value
	maxSchema   = 4 << 20  // size of a schema that is checked as a whole; larger ones are left to the server
	maxSubjects = 100_000  // values in a schema
	maxMatching = 50 << 20 // steps to match the arguments with the patterns in a schema
)

// isAffordable reports whether checking so many bytes of arguments against a schema ends, and soon.
func isAffordable(root wire.Payload, arguments int) bool {
	a := affordance{root: root, cost: make(map[*byte]int), matching: maxMatching / (arguments + 1)}
	return len(root.Bytes()) <= maxSchema && a.all(root, 0)
}

type affordance struct {
	root     wire.Payload
	cost     map[*byte]int // of schemas, by their address; 0 while it is computed
	subjects int
	matching int // states of patterns that may still be added
}

// all visits everything that may be a schema.
func (a *affordance) all(value wire.Payload, depth int) bool {
	a.subjects++
	if a.subjects > maxSubjects || depth > maxDepth {
		return false
	}
	if value.Kind() == "object" {
		if !a.match(value) {
			return false
		}
		// With an id of its own, its references lead elsewhere.
		if _, own := value.Member("$id").Text(); own && depth > 0 || a.apply(value, 0) > maxApplied {
			return false
		}
		for _, member := range value.Members() {
			if !a.all(member, depth+1) {
				return false
			}
		}
	}
	for element := range value.Elements() {
		if !a.all(element, depth+1) {
			return false
		}
	}
	return true
}

// apply counts the schemas that apply to a value together with this one; more than maxApplied if they are infinite or
// cannot be counted.
func (a *affordance) apply(s wire.Payload, depth int) (cost int) {
	if s.Kind() != "object" {
		return 1
	}
	place := &s.Bytes()[0]
	if known, seen := a.cost[place]; seen {
		if known == 0 {
			return maxApplied + 1 // a cycle
		}
		return known
	}
	a.cost[place] = 0
	defer func() { a.cost[place] = cost }()
	cost = 1
	add := func(part wire.Payload) {
		if cost <= maxApplied {
			cost += a.apply(part, depth+1)
		}
	}
	if depth > maxDepth || !s.Member("$dynamicRef").IsAbsent() || !s.Member("$recursiveRef").IsAbsent() {
		return maxApplied + 1
	}
	if !s.Member("$ref").IsAbsent() {
		target := schema{Payload: s, root: a.root}.step()
		if target.IsAbsent() {
			return maxApplied + 1 // by an anchor, or in another document
		}
		add(target)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		for choice := range s.Member(key).Elements() {
			add(choice)
		}
	}
	for _, key := range []string{"not", "if", "then", "else"} {
		add(s.Member(key))
	}
	for _, key := range []string{"dependentSchemas", "dependencies"} {
		for _, part := range s.Member(key).Members() {
			add(part)
		}
	}
	return cost
}

// match counts the states of the patterns that a schema has itself.
func (a *affordance) match(s wire.Payload) bool {
	if pattern, ok := s.Member("pattern").Text(); ok {
		a.matching -= states(pattern)
	}
	for pattern := range s.Member("patternProperties").Members() {
		a.matching -= states(string(pattern))
	}
	return a.matching >= 0
}

// states returns about how many states a text is in at once while it is matched: repetitions are copies.
func states(pattern string) int {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0 // it matches nothing
	}
	var count func(*syntax.Regexp) int
	count = func(part *syntax.Regexp) (n int) {
		for _, inner := range part.Sub {
			n += count(inner)
		}
		if part.Op == syntax.OpRepeat {
			n *= max(part.Min, part.Max, 1)
		}
		return n + max(len(part.Rune), 1)
	}
	return count(parsed)
}
