package catalog

import (
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// Restrictions say which tools of the servers clients may see and use. Nil and the zero value allow all. They never change.
type Restrictions struct {
	// Lock approves definitions of tools; nil approves all.
	Lock *Lock
	// Denies reports whether a policy denies a tool, whatever its definition and its arguments are; nil denies none. It
	// must be safe for concurrent use.
	Denies func(ref toolbox.Ref) bool
}

// Deny reports whether a tool of that name is denied.
func (r *Restrictions) Deny(ref toolbox.Ref) bool {
	return r != nil && r.Denies != nil && r.Denies(ref)
}

// AllowUnlisted reports whether tools of a toolbox may be used that their server does not list. A lock cannot have approved
// them. A policy judges names, and a server may take a name that it does not list, in other letters, say, for one that it
// does.
func (r *Restrictions) AllowUnlisted(box string) bool {
	return r == nil || r.Denies == nil && !r.Lock.HoldsFor(box)
}

// Under returns the snapshot with just those tools that clients may see. It may be called on a snapshot that is
// restricted otherwise.
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

// permittedBy returns the snapshot without the tools that a policy denies, and without warnings about them: nothing is
// to be known of such a tool.
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
