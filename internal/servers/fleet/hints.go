package fleet

import "github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"

// doubt marks the tools of a snapshot whose definitions or hints changed and were not accepted. It reads files.
func (s *Server) doubt(snapshot *catalog.Snapshot) *catalog.Snapshot {
	return s.fleet.options.Baseline.Doubt(s.Name(), definitionKey(s.toolbox, s.config), snapshot)
}

// ReviewHints looks again which hints a person accepted. Clients are not told: the caller tells them.
func (f *Fleet) ReviewHints() {
	var again catalog.Restrictions // others than now, so that cached lists are looked at as well
	if now := f.restrictions.Load(); now != nil {
		again = *now
	}
	f.Restrict(&again)
}

// ChangedHints returns the tools of the server, as it was seen last, whose hints do not count because they changed. It
// may read files.
func (s *Server) ChangedHints() []catalog.HintChange {
	offered := s.Offered()
	if offered == nil {
		return nil
	}
	return offered.ChangedHints()
}

// AcceptHints makes the hints that the named tools had when the server was seen last those that count. What is
// accepted becomes visible with the next reading of the server's tools, and with ReviewHints.
func (s *Server) AcceptHints(tools []string) error {
	offered := s.Offered()
	if offered == nil {
		return nil
	}
	return s.fleet.options.Baseline.Accept(definitionKey(s.toolbox, s.config), offered, tools)
}
