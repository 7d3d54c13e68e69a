package catalog

import (
	"slices"
	"sync/atomic"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// Restrictions decide which tools clients can see and use. Nil and the zero value allow all. They are immutable.
type Restrictions struct {
	// Lock approves tool definitions; nil approves all.
	Lock *Lock
	// Denies reports whether a policy denies a tool to a caller, whatever its arguments are; nil denies none. Of a tool
	// that is not known, the definition is absent: then it reports whether the tool is denied whatever its definition is.
	// It must be safe for concurrent use.
	Denies func(caller string, ref toolbox.Ref, tool Tool) bool
	// Callers are those that the rules name. To all others the same tools are denied.
	Callers []string
}

// Deny reports whether a tool is denied to a caller.
func (r *Restrictions) Deny(caller string, ref toolbox.Ref, tool Tool) bool {
	return r != nil && r.Denies != nil && r.Denies(caller, ref, tool)
}

// AllowUnlisted reports whether tools that a server does not list may be called. A lock cannot have approved them. A
// policy matches names, and a server may accept an unlisted name, in a different case for example, for a listed one.
func (r *Restrictions) AllowUnlisted(box string) bool {
	return r == nil || r.Denies == nil && !r.Lock.HoldsFor(box)
}

// restricted is what the views of a snapshot have in common: one for each caller that the rules name, and one for all
// others.
type restricted struct {
	restrictions *Restrictions
	box, server  string
	whole        *Snapshot                  // without restrictions
	settled      *Snapshot                  // whole, with the hints and definitions accepted that the lock accepts
	open         int                        // changes that nobody accepted
	others       *Snapshot                  // the view of callers that the rules do not name
	named        []atomic.Pointer[Snapshot] // by index in Callers; made when first needed
}

// Under returns the snapshot with only the tools that clients can see who are no caller that the rules name; For returns
// that of a caller. The receiver may already be restricted.
func (s *Snapshot) Under(r *Restrictions, box, server string) *Snapshot {
	if s == nil {
		return nil
	}
	if s.restricted != nil {
		s = s.restricted.whole
	}
	if r == nil {
		return s
	}
	of := &restricted{restrictions: r, box: box, server: server, whole: s, settled: s.settledBy(r.Lock, box, server)}
	if r.Denies == nil && of.settled == s && !r.Lock.HoldsFor(box) {
		return s
	}
	of.open = of.settled.openUnder(r.Lock, box, server)
	if r.Denies != nil {
		of.named = make([]atomic.Pointer[Snapshot], len(r.Callers))
	}
	of.others = of.view("")
	return of.others
}

// For returns the snapshot with only the tools that a caller can see. It is the same one each time, and for all callers
// that see the same tools as those that no rule names.
func (s *Snapshot) For(caller string) *Snapshot {
	if s == nil || s.restricted == nil {
		return s
	}
	of := s.restricted
	i := slices.Index(of.restrictions.Callers, caller)
	if i < 0 || len(of.named) == 0 {
		return of.others
	}
	if known := of.named[i].Load(); known != nil {
		return known
	}
	view := of.view(caller)
	if slices.Equal(view.Denied, of.others.Denied) && slices.Equal(view.Warnings, of.others.Warnings) {
		view = of.others
	}
	of.named[i].CompareAndSwap(nil, view)
	return of.named[i].Load()
}

// DeniedTool returns the tool of a name that a policy denies to the caller of this view.
func (s *Snapshot) DeniedTool(name string) (Tool, bool) {
	if len(s.Denied) == 0 || !slices.Contains(s.Denied, name) {
		return Tool{}, false
	}
	return s.restricted.settled.Find(name)
}

// view makes the view of a caller.
func (of *restricted) view(caller string) *Snapshot {
	view := *of.permitted(caller).approvedBy(of.restrictions.Lock, of.box, of.server)
	view.restricted = of
	return &view
}

// permitted returns the snapshot without the tools that a policy denies, and without warnings about them: clients must
// not learn that such a tool exists.
func (of *restricted) permitted(caller string) *Snapshot {
	s := of.settled
	denied := make(map[string]bool)
	for _, tool := range s.Tools {
		if of.denies(caller, tool) {
			denied[tool.Name] = true
		}
	}
	for _, name := range s.about {
		if _, known := s.byName[name]; name != "" && !known && of.denies(caller, Tool{Name: name}) {
			denied[name] = true
		}
	}
	if len(denied) == 0 {
		return s
	}
	under := *s
	under.Tools, under.Denied, under.Warnings, under.about, under.byName = nil, nil, nil, nil, make(map[string]int)
	for _, tool := range s.Tools {
		if denied[tool.Name] {
			under.Denied = append(under.Denied, tool.Name)
			continue
		}
		under.byName[tool.Name] = len(under.Tools)
		under.Tools = append(under.Tools, tool)
	}
	for i, warning := range s.Warnings {
		if !denied[s.about[i]] {
			under.Warnings, under.about = append(under.Warnings, warning), append(under.about, s.about[i])
		}
	}
	return &under
}

func (of *restricted) denies(caller string, tool Tool) bool {
	return of.restrictions.Deny(caller, toolbox.Ref{Toolbox: of.box, Server: of.server, Name: tool.Name}, tool)
}

// settledBy returns the snapshot with the hints that count because a lock approves the definition, and without marks of
// changes: a person has seen what the lock approves, and clients do not get the rest.
func (s *Snapshot) settledBy(lock *Lock, box, server string) *Snapshot {
	if !lock.HoldsFor(box) {
		return s
	}
	approved, isKnown := lock.Find(box, server)
	if s.hasChangeMarks() {
		var marks changeMarks
		if isKnown && approved.Instructions == nil { // it was written before instructions were locked, and approves them all
			marks.instructions = s.instructions
		}
		s = s.withoutChangeMarks().withChangeMarks(server, marks)
	}
	if !slices.ContainsFunc(s.Tools, func(tool Tool) bool { return tool.hintsChanged }) {
		return s
	}
	records := approved.records()
	settled := *s
	settled.Tools = slices.Clone(s.Tools)
	for i := range settled.Tools {
		tool := &settled.Tools[i]
		if record, known := records[tool.Name]; tool.hintsChanged && known && record.IsOf(*tool) {
			tool.hintsChanged, tool.HintsDoubted = false, s.hintsDistrusted
		}
	}
	return &settled
}

// openUnder returns how many changes nobody accepted; with a lock, those are what it does not approve.
func (s *Snapshot) openUnder(lock *Lock, box, server string) int {
	if !lock.HoldsFor(box) {
		return s.open
	}
	approved, isKnown := lock.Find(box, server)
	open, records := 0, approved.records()
	if s.instructions.open || approved.withholdReason(s, isKnown) != "" {
		open++
	}
	for _, tool := range s.Tools {
		if record, known := records[tool.Name]; !known || !record.IsOf(tool) {
			open++
		}
	}
	return open
}
