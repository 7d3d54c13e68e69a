package catalog

import (
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// Restrictions decide which tools clients can see and use. Nil and the zero value allow all. They are immutable.
type Restrictions struct {
	// Lock approves tool definitions; nil approves all.
	Lock *Lock
	// Denies reports whether a policy denies a tool, whatever its definition and arguments; nil denies none. It must be
	// safe for concurrent use.
	Denies func(ref toolbox.Ref) bool
}

// Deny reports whether a tool is denied.
func (r *Restrictions) Deny(ref toolbox.Ref) bool {
	return r != nil && r.Denies != nil && r.Denies(ref)
}

// AllowUnlisted reports whether tools that a server does not list may be called. A lock cannot have approved them. A
// policy matches names, and a server may accept an unlisted name, in a different case for example, for a listed one.
func (r *Restrictions) AllowUnlisted(box string) bool {
	return r == nil || r.Denies == nil && !r.Lock.HoldsFor(box)
}

// Under returns the snapshot with only the tools that clients can see. The receiver may already be restricted.
func (s *Snapshot) Under(r *Restrictions, box, server string) *Snapshot {
	if s == nil {
		return nil
	}
	if s.whole != nil {
		s = s.whole
	}
	if r == nil {
		return s
	}
	under := s.permittedBy(r, box, server).approvedBy(r.Lock, box, server)
	if under != s {
		under.whole = s
	}
	return under
}

// permittedBy returns the snapshot without the tools that a policy denies, and without warnings about them: clients
// must not learn that such a tool exists.
func (s *Snapshot) permittedBy(r *Restrictions, box, server string) *Snapshot {
	isDenied := func(name string) bool {
		return name != "" && r.Deny(toolbox.Ref{Toolbox: box, Server: server, Name: name})
	}
	if !slices.ContainsFunc(s.Tools, func(tool Tool) bool { return isDenied(tool.Name) }) && !slices.ContainsFunc(s.about, isDenied) {
		return s
	}
	under := *s
	under.Tools, under.Denied, under.Warnings, under.about, under.byName = nil, nil, nil, nil, make(map[string]int)
	for _, tool := range s.Tools {
		if isDenied(tool.Name) {
			under.Denied = append(under.Denied, tool.Name)
			continue
		}
		under.byName[tool.Name] = len(under.Tools)
		under.Tools = append(under.Tools, tool)
	}
	for i, warning := range s.Warnings {
		if !isDenied(s.about[i]) {
			under.Warnings, under.about = append(under.Warnings, warning), append(under.about, s.about[i])
		}
	}
	return &under
}
