package fleet

import (
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// Taps returns where the messages of all sessions with the server can be observed, now and later, also after a reload.
func (s *Server) Taps() *downstream.TapPoint { return s.configured().taps }

// Listed is a list that is known of a session.
type Listed struct {
	Method  string // that asks for it
	Member  string // of the result that has the entries
	Entries []wire.Payload
}

// Listed returns what is known of the lists that a session offers, the tools first; nil if the session is not ready.
func (s *Server) Listed(session *downstream.Session) []Listed {
	for _, variant := range s.allVariants() {
		variant.mu.Lock()
		in, lists := variant.running, variant.listed
		variant.mu.Unlock()
		if in == nil || in.session != session {
			continue
		}
		tools := Listed{Method: protocol.MethodToolsList, Member: "tools"}
		for _, tool := range in.snapshot().Tools {
			tools.Entries = append(tools.Entries, tool.Definition)
		}
		all := []Listed{tools}
		for _, kind := range catalog.ListKinds {
			if list := lists[kind]; list != nil {
				all = append(all, Listed{kind.Method, kind.Array, list.Entries})
			}
		}
		return all
	}
	return nil
}
