package fleet

import (
	"crypto/sha256"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

// Permits reports whether the configuration lets a tool of that name be used that the
// server does not list, and that nobody can have approved therefore.
func (s *Server) Permits(tool string) bool {
	return s.config.Filter.Allows(tool) && s.fleet.restrictions.Load().AllowUnlisted(s.toolbox)
}

// Denies reports whether the policy denies a client the server's tool of that name, whatever its arguments are, and
// whether there is such a tool or not.
func (s *Server) Denies(p *ClientProfile, tool string) bool {
	if offered := s.OfferedFor(p); offered != nil && slices.Contains(offered.Denied, tool) {
		return true
	}
	return s.fleet.restrictions.Load().Deny(p.Caller(), toolbox.Ref{Toolbox: s.toolbox, Server: s.Name(), Name: tool}, catalog.Tool{Name: tool})
}

// Offered returns the tools last seen; nil if the server was never seen. They are those that clients see who are no
// caller that a rule names; see catalog.Snapshot.For. The snapshot says whether they are from an earlier run or from
// another client. It may read a file.
func (s *Server) Offered() *catalog.Snapshot {
	s.mu.Lock()
	offered := s.offered
	s.mu.Unlock()
	if offered != nil {
		return offered
	}
	return s.remembered()
}

// IsListedFor reports whether the tools last seen were listed for a client with these capabilities. Others may see fewer tools, or more.
func (s *Server) IsListedFor(capabilities string) bool {
	offered := s.Offered()
	return offered != nil && offered.ListedFor == digestOf(canonical([]byte(capabilities)))
}

// digestOf identifies capabilities in canonical form; "" for none.
func digestOf(capabilities string) string {
	if capabilities == "" {
		return ""
	}
	return catalog.Hash(sha256.Sum256([]byte(capabilities))).String()
}

// OfferedFor is Offered for a client. It does not add the client to a session.
func (s *Server) OfferedFor(p *ClientProfile) *catalog.Snapshot {
	return s.preview(p).Offered().For(p.Caller())
}
