package passthrough

import (
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// recordServed records the lists that a client is about to get. It is called before the client gets them, so that a
// change in between is notified.
func (m *Memory) recordServed(list *listKind, states []serverState) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notified[list.Changed] = false
	for key := range m.served {
		if key.kind == list {
			delete(m.served, key)
		}
	}
	for _, s := range states {
		if sent := s.lists[list]; sent != nil {
			m.served[listKey{list, originOf(s.server)}] = sent
		}
	}
}

// Resume says that the client may have lists of an earlier session.
func (m *Memory) Resume() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, list := range catalog.ListKinds {
		m.notified[list.Changed] = false
	}
}

// needsNotification reports whether the client has yet to be notified that lists of a server changed, and records that
// it is. One notification is enough until the client asks for the lists again.
func (m *Memory) needsNotification(notification string, o origin, lists catalog.Lists, anyway bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if notified, asked := m.notified[notification]; notified || !asked && !anyway {
		return false
	}
	for _, list := range catalog.ListKinds {
		if list.Changed == notification && lists[list] != m.served[listKey{list, o}] {
			m.notified[notification] = true
			return true
		}
	}
	return false
}

// recordNotified records that the client is notified that lists changed.
func (m *Memory) recordNotified(notification string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notified[notification] = true
}

// NeedsNotification reports whether a client has to be notified that lists of a server changed. It is called once for
// each change. A client that never asked for the lists has none that could be outdated, and is notified only if anyway
// is set: its own request made the lists change.
func (f *Forwarder) NeedsNotification(session Session, server *fleet.Server, notification string, anyway bool) bool {
	return f.seesLists(session, server) &&
		session.Memory().needsNotification(notification, originOf(server), server.ListsFor(session.Profile()), anyway)
}

// CachedLists returns the lists that a client would get now, of those whose changes the notification announces.
func (f *Forwarder) CachedLists(session Session, notification string) (lists []*catalog.List) {
	for _, server := range f.listedServers(session) {
		known := server.ListsFor(session.Profile())
		for _, list := range catalog.ListKinds {
			if list.Changed == notification && known[list] != nil {
				lists = append(lists, known[list])
			}
		}
	}
	return slices.Clip(lists)
}
