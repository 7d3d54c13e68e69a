// Package toolbox holds the words of the domain: what names a tool, which tools
// a server may show, how tools are named natively, and errors meant for people.
package toolbox

import (
	"fmt"
	"slices"
)

// LockFile is the name of the file beside the configuration that says which definitions of
// tools were approved.
const LockFile = "workbench.lock"

// Ref names one tool of one server in one toolbox. Every part is case-sensitive
// and may be any non-empty string.
type Ref struct {
	Toolbox, Server, Name string
}

// Filter decides which of a server's tools are offered. The zero value offers all.
type Filter struct {
	names []string
	set   bool
}

// NewFilter makes a filter from the configured names: "*" among them means all,
// an empty list means none, and otherwise names match exactly.
func NewFilter(names []string) Filter {
	if slices.Contains(names, "*") {
		return Filter{}
	}
	return Filter{names: slices.Clone(names), set: true}
}

// Allows reports whether a tool of that name is offered.
func (f Filter) Allows(name string) bool {
	return !f.set || slices.Contains(f.names, name)
}

// String tells filters apart that decide differently.
func (f Filter) String() string {
	if !f.set {
		return "*"
	}
	return fmt.Sprintf("%q", f.names)
}
