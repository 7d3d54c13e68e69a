package approval

import (
	"container/list"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/subject"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

const (
	maxOfSession = 1000   // approvals that are remembered for a session; beyond, the oldest is forgotten
	maxOfAll     = 10_000 // approvals that are remembered for all sessions; beyond, the oldest is forgotten
)

// memory holds what was approved for longer than one call, until the session ends.
type memory struct {
	mu       sync.Mutex
	sessions map[*fleet.ClientProfile]map[subject.Subject]*list.Element
	order    list.List // of approvals, the oldest first
}

// approved is one approval.
type approved struct {
	session *fleet.ClientProfile
	subject subject.Subject
}

func newMemory() *memory {
	return &memory{sessions: make(map[*fleet.ClientProfile]map[subject.Subject]*list.Element)}
}

// allows reports whether a call was approved before.
func (m *memory) allows(session *fleet.ClientProfile, s subject.Subject) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.sessions[session]
	_, isAllowed := known[s.WithAnyArguments()]
	_, isSame := known[s]
	return isAllowed || isSame
}

// add remembers an approval.
func (m *memory) add(session *fleet.ClientProfile, s subject.Subject) {
	if session == nil { // its end could not be seen
		return
	}
	m.mu.Lock()
	known, ok := m.sessions[session]
	if !ok {
		known = make(map[subject.Subject]*list.Element)
		m.sessions[session] = known
	}
	if at, ok := known[s]; ok {
		m.order.MoveToBack(at)
	} else {
		known[s] = m.order.PushBack(approved{session, s})
	}
	m.dropOldest(session)
	m.mu.Unlock()
	if !ok {
		session.OnClose(func() { m.forget(session) })
	}
}

// dropOldest keeps the limits. Called with mu held.
func (m *memory) dropOldest(session *fleet.ClientProfile) {
	if len(m.sessions[session]) > maxOfSession {
		for at := m.order.Front(); at != nil; at = at.Next() {
			if at.Value.(approved).session == session {
				m.drop(at)
				break
			}
		}
	}
	if m.order.Len() > maxOfAll {
		m.drop(m.order.Front())
	}
}

func (m *memory) drop(at *list.Element) {
	old := m.order.Remove(at).(approved)
	delete(m.sessions[old.session], old.subject)
}

// forgetAll drops the approvals of all sessions.
func (m *memory) forgetAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, known := range m.sessions { // the sessions stay known, since their ends are waited for already
		clear(known)
	}
	m.order.Init()
}

// forget drops all approvals of a session that has ended.
func (m *memory) forget(session *fleet.ClientProfile) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, at := range m.sessions[session] {
		m.order.Remove(at)
	}
	delete(m.sessions, session)
}
