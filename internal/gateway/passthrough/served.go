package passthrough

import (
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// serves takes down what a client is about to get, before it does: it is told of what comes later.
func (m *Memory) serves(l *listing, sights []sight) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told[l.Changed] = false
	for key := range m.served {
		if key.list == l {
			delete(m.served, key)
		}
	}
	for _, s := range sights {
		if list := s.lists[l]; list != nil {
			m.served[bookKey{l, originOf(s.server)}] = list
		}
	}
}

// Resume says that the client may have lists of an earlier session.
func (m *Memory) Resume() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range catalog.ListKinds {
		m.told[l.Changed] = false
	}
}

// isNews reports whether the client has yet to be told that lists of a server changed, and takes
// down that it is. Until the client asks again, once is enough.
func (m *Memory) isNews(notification string, o origin, lists catalog.Lists, anyway bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if told, asked := m.told[notification]; told || !asked && !anyway {
		return false
	}
	for _, l := range catalog.ListKinds {
		if l.Changed == notification && lists[l] != m.served[bookKey{l, o}] {
			m.told[notification] = true
			return true
		}
	}
	return false
}

// tells takes down that the client is told that lists changed.
func (m *Memory) tells(notification string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told[notification] = true
}

// IsNews reports whether a client is to be told, by the notification, that a server lists something
// else than before. It is to be called once for each such change. A client that never asked for the
// lists has nothing that could have changed, and is told anyway only if it brought that about.
func (p *Passage) IsNews(session Session, server *fleet.Server, notification string, anyway bool) bool {
	return p.sees(session, server) &&
		session.Memory().isNews(notification, originOf(server), p.carry(session).look(server).lists, anyway)
}

// Shown identifies what a client gets that asks for the lists whose changes the notification tells.
func (p *Passage) Shown(session Session, notification string) (lists []*catalog.List) {
	carrier := p.carry(session)
	for _, server := range p.listed(session) {
		known := carrier.look(server).lists
		for _, l := range catalog.ListKinds {
			if l.Changed == notification && known[l] != nil {
				lists = append(lists, known[l])
			}
		}
	}
	return slices.Clip(lists)
}
