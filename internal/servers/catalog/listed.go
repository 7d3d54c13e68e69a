package catalog

// Listed is a tool that a server lists, whether clients get it or not.
type Listed struct {
	Tool
	Withheld string // why the lock withholds it, phrased to follow its name; "" if it does not
	Denied   bool   // by the policy, to the caller of the view
}

// Count returns the number of tools that the server lists, for At. A nil snapshot has none.
func (s *Snapshot) Count() int {
	if s == nil {
		return 0
	}
	return len(s.unrestricted().Tools)
}

// At returns a tool of those that the server lists, by its place in the list.
func (s *Snapshot) At(i int) Listed {
	tool := s.unrestricted().Tools[i]
	if _, offered := s.byName[tool.Name]; offered {
		return Listed{Tool: tool}
	}
	reason, withheld := s.withheld[tool.Name]
	return Listed{Tool: tool, Withheld: reason, Denied: !withheld}
}

// Lookup returns a tool of those that the server lists, by its name.
func (s *Snapshot) Lookup(name string) (Listed, bool) {
	if s == nil {
		return Listed{}, false
	}
	i, ok := s.unrestricted().byName[name]
	if !ok {
		return Listed{}, false
	}
	return s.At(i), true
}

// WarningsAbout returns the warnings about one tool, which are withheld from clients together with a tool that is denied.
func (s *Snapshot) WarningsAbout(tool string) (warnings []string) {
	if _, offered := s.byName[tool]; !offered && s.withheld[tool] == "" {
		s = s.unrestricted()
	}
	for i, name := range s.about {
		if name == tool {
			warnings = append(warnings, s.Warnings[i])
		}
	}
	return warnings
}

// unrestricted returns the snapshot with all tools, with the hints that the lock accepts.
func (s *Snapshot) unrestricted() *Snapshot {
	if s.restricted == nil {
		return s
	}
	return s.restricted.settled
}
