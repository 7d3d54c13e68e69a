package passage

import (
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// asks takes down, before servers are asked for a list of the client's, whose entries it will
// have seen.
func (m *Memory) asks(l *listing, scope []*fleet.Server) {
	in := make(map[origin]struct{}, len(scope))
	for _, server := range scope {
		in[originOf(server)] = struct{}{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[l.capability] = in
}

// misses takes down that a server's entries were not in a list after all.
func (m *Memory) misses(l *listing, o origin) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.seen[l.capability], o)
}

// isNews reports whether the client had a list without the server's entries.
func (m *Memory) isNews(capability string, o origin) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	in, listed := m.seen[capability]
	_, ok := in[o]
	return listed && !ok
}

// tellLate tells a client of the lists that a server adds to which was not there when the
// client asked for them.
func (p *Passage) tellLate(session Session, server *fleet.Server, capabilities wire.Payload) {
	if !p.sees(session, server) {
		return
	}
	for _, list := range []struct{ capability, change string }{
		{resources.capability, protocol.NotifyResourcesList}, {prompts.capability, protocol.NotifyPromptsList},
	} {
		if !declares(capabilities, list.capability) || !session.Memory().isNews(list.capability, originOf(server)) {
			continue
		}
		if err := session.Notify(wire.Notification(list.change, nil)); err != nil {
			p.log.Debug("dropped a notification for a client", "reason", err)
		}
	}
}
