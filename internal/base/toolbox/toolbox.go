// Package toolbox holds the terms of the domain: references to tools, filters and patterns that select tools, native
// tool names, and errors meant for people.
package toolbox

import (
	"fmt"
	"slices"
)

// LockFile is the name of the lock file beside the configuration, which records the approved tool definitions.
const LockFile = "workbench.lock"

// Ref names one tool of one server in one toolbox. Every part is case-sensitive and can be any non-empty string.
type Ref struct {
	Toolbox, Server, Name string
}

// Filter decides which of a server's tools are offered. The zero value offers all.
type Filter struct {
	names []string
	set   bool
}

// NewFilter returns a filter for the configured names. "*" among them offers all tools, an empty list none; otherwise
// names match exactly.
func NewFilter(names []string) Filter {
	if slices.Contains(names, "*") {
		return Filter{}
	}
	return Filter{names: slices.Clone(names), set: true}
}

// Allows reports whether a tool with this name is offered.
func (f Filter) Allows(name string) bool {
	return !f.set || slices.Contains(f.names, name)
}

// String returns a key that is the same for equal filters only.
func (f Filter) String() string {
	if !f.set {
		return "*"
	}
	return fmt.Sprintf("%q", f.names)
}
