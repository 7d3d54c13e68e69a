package passthrough

import (
	"strings"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// Subscriptions are those of all clients. Clients may share a session with a server, which
// then knows only one subscriber.
type Subscriptions struct {
	mu      sync.Mutex
	clients map[subscribed]map[*Memory]any // with the session that it was made in
	counts  map[origin]map[*Memory]int     // of subscriptions to resources
}

// subscribed is a resource of a server, by the server's URI, or one of its tasks.
type subscribed struct {
	origin origin
	topic  downstream.Topic
}

// maxSubscriptions is how many subscriptions a client can have.
const maxSubscriptions = 10_000

// NewSubscriptions makes an empty one.
func NewSubscriptions() *Subscriptions {
	return &Subscriptions{clients: make(map[subscribed]map[*Memory]any), counts: make(map[origin]map[*Memory]int)}
}

// subscribe remembers a subscription, or the session that it is in; ok is false if the
// client has too many.
func (m *Memory) subscribe(key subscribed, asked string, session any) (fresh, ok bool) {
	s := m.subscriptions
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := m.own[key]; !known {
		if len(m.own) >= maxSubscriptions {
			return false, false
		}
		fresh = true
		if !key.topic.IsTask {
			if s.counts[key.origin] == nil {
				s.counts[key.origin] = make(map[*Memory]int)
			}
			s.counts[key.origin][m]++
		}
	}
	m.own[key] = asked
	if s.clients[key] == nil {
		s.clients[key] = make(map[*Memory]any)
	}
	s.clients[key][m] = session
	return fresh, true
}

// unsubscribe forgets a subscription, and reports whether another client still has one in
// the same session.
func (m *Memory) unsubscribe(key subscribed, session any) (shared bool) {
	s := m.subscriptions
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(m, key)
	return s.isShared(key, session)
}

// remove takes out a subscription. Called with mu held.
func (s *Subscriptions) remove(m *Memory, key subscribed) {
	if _, known := m.own[key]; !known {
		return
	}
	delete(m.own, key)
	delete(s.clients[key], m)
	if len(s.clients[key]) == 0 {
		delete(s.clients, key)
	}
	if key.topic.IsTask {
		return
	}
	if s.counts[key.origin][m]--; s.counts[key.origin][m] == 0 {
		delete(s.counts[key.origin], m)
	}
	if len(s.counts[key.origin]) == 0 {
		delete(s.counts, key.origin)
	}
}

// isShared reports whether a client has the subscription in that session. Called with mu
// held.
func (s *Subscriptions) isShared(key subscribed, session any) bool {
	if session == nil {
		return false
	}
	for _, in := range s.clients[key] {
		if in == session {
			return true
		}
	}
	return false
}

// subscription returns the resource that the client subscribed to by a URI.
func (m *Memory) subscription(asked string) (o origin, uri string, ok bool) {
	s := m.subscriptions
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, as := range m.own {
		if as == asked && !key.topic.IsTask {
			return key.origin, key.topic.ID, true
		}
	}
	return origin{}, "", false
}

// wantsUpdate reports whether an update of a resource is for the client, and by which URI
// it subscribed, if it did. An update may be of a part of what was subscribed to, so that
// one that nobody subscribed to by name goes to all who have subscriptions with that
// server, and where nobody has, to all. Where others are other persons, it goes only to who
// subscribed to what it is plainly a part of.
func (m *Memory) wantsUpdate(o origin, uri string, others bool) (asked string, wanted bool) {
	s := m.subscriptions
	s.mu.Lock()
	defer s.mu.Unlock()
	key := subscribed{o, downstream.Topic{ID: uri}}
	if asked, ok := m.own[key]; ok {
		return asked, true
	}
	if len(s.clients[key]) > 0 {
		return "", false
	}
	if others {
		return "", m.hasWhole(o, uri)
	}
	return "", s.counts[o][m] > 0 || len(s.counts[o]) == 0
}

// hasWhole reports whether the client subscribed to something that a URI is a part of. Called with the lock of
// the subscriptions held.
func (m *Memory) hasWhole(o origin, uri string) bool {
	for key := range m.own {
		whole := key.topic.ID
		rest, isPart := strings.CutPrefix(uri, whole)
		if key.origin == o && !key.topic.IsTask && isPart && (strings.HasSuffix(whole, "/") || strings.IndexAny(rest, "/?#") == 0) {
			return true
		}
	}
	return false
}

// renew moves the client's subscriptions with a server to another session, and returns what
// they are to, but for those that are just being made.
func (m *Memory) renew(o origin, session any) (topics []downstream.Topic) {
	s := m.subscriptions
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range m.own {
		if before := s.clients[key][m]; key.origin == o && before != nil && before != session {
			s.clients[key][m] = session
			topics = append(topics, key.topic)
		}
	}
	return topics
}

// leave forgets all subscriptions of the client, and returns those of a session that
// nobody else has.
func (m *Memory) leave() (orphaned map[subscribed]any) {
	s := m.subscriptions
	s.mu.Lock()
	defer s.mu.Unlock()
	orphaned = make(map[subscribed]any)
	for key := range m.own {
		session := s.clients[key][m]
		s.remove(m, key)
		if session != nil && !s.isShared(key, session) {
			orphaned[key] = session
		}
	}
	return orphaned
}
