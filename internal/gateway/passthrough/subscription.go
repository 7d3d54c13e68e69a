package passthrough

import (
	"strings"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// Subscriptions are the subscriptions of all clients. Clients may share a session with a server, which then sees only
// one subscriber.
type Subscriptions struct {
	mu      sync.Mutex
	clients map[subscription]map[*Memory]*downstream.Session // with the session that it was made in
	counts  map[origin]map[*Memory]int                       // of subscriptions to resources
}

// subscription is a resource of a server, by the server's own URI, or one of its tasks.
type subscription struct {
	origin origin
	topic  downstream.Topic
}

// maxSubscriptions is how many subscriptions a client can have.
const maxSubscriptions = 10_000

// NewSubscriptions makes an empty set.
func NewSubscriptions() *Subscriptions {
	return &Subscriptions{clients: make(map[subscription]map[*Memory]*downstream.Session), counts: make(map[origin]map[*Memory]int)}
}

// subscribe records a subscription, or the session that it is in now; ok is false if the client has too many.
func (m *Memory) subscribe(key subscription, clientName string, session *downstream.Session) (isNew, ok bool) {
	s := m.subscriptions
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := m.subscribed[key]; !known {
		if len(m.subscribed) >= maxSubscriptions {
			return false, false
		}
		isNew = true
		if !key.topic.IsTask {
			if s.counts[key.origin] == nil {
				s.counts[key.origin] = make(map[*Memory]int)
			}
			s.counts[key.origin][m]++
		}
	}
	m.subscribed[key] = clientName
	if s.clients[key] == nil {
		s.clients[key] = make(map[*Memory]*downstream.Session)
	}
	s.clients[key][m] = session
	return isNew, true
}

// unsubscribe removes a subscription, and reports whether another client still has it in the same session.
func (m *Memory) unsubscribe(key subscription, session *downstream.Session) (shared bool) {
	s := m.subscriptions
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(m, key)
	return s.isIn(key, session)
}

// remove removes a subscription of a client. Called with mu held.
func (s *Subscriptions) remove(m *Memory, key subscription) {
	if _, known := m.subscribed[key]; !known {
		return
	}
	delete(m.subscribed, key)
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

// isIn reports whether any client has the subscription in that session. Called with mu held.
func (s *Subscriptions) isIn(key subscription, session *downstream.Session) bool {
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

// findSubscription returns the resource that the client subscribed to by a URI.
func (m *Memory) findSubscription(clientURI string) (o origin, serverURI string, ok bool) {
	s := m.subscriptions
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, name := range m.subscribed {
		if name == clientURI && !key.topic.IsTask {
			return key.origin, key.topic.ID, true
		}
	}
	return origin{}, "", false
}

// wantsUpdate reports whether the client gets the update of a resource, and the URI by which it subscribed, if it did.
// The update may be of a part of a resource that somebody subscribed to. So an update that nobody subscribed to by name
// goes to all clients with subscriptions to that server, or to all clients if there are none. If other people use the
// server too, it goes only to clients that subscribed to a resource that contains it by its URI.
func (m *Memory) wantsUpdate(o origin, uri string, servesOthers bool) (clientURI string, wanted bool) {
	s := m.subscriptions
	s.mu.Lock()
	defer s.mu.Unlock()
	key := subscription{o, downstream.Topic{ID: uri}}
	if clientURI, ok := m.subscribed[key]; ok {
		return clientURI, true
	}
	if len(s.clients[key]) > 0 {
		return "", false
	}
	if servesOthers {
		return "", m.isInSubscribed(o, uri)
	}
	return "", s.counts[o][m] > 0 || len(s.counts[o]) == 0
}

// isInSubscribed reports whether the client subscribed to a resource whose URI contains this one. Called with the mu of
// subscriptions held.
func (m *Memory) isInSubscribed(o origin, uri string) bool {
	for key := range m.subscribed {
		whole := key.topic.ID
		rest, isPart := strings.CutPrefix(uri, whole)
		if key.origin == o && !key.topic.IsTask && isPart && (strings.HasSuffix(whole, "/") || strings.IndexAny(rest, "/?#") == 0) {
			return true
		}
	}
	return false
}

// moveSubscriptions moves the client's subscriptions with a server to a new session, and returns their topics, except
// for subscriptions that are just being made.
func (m *Memory) moveSubscriptions(o origin, session *downstream.Session) (topics []downstream.Topic) {
	s := m.subscriptions
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range m.subscribed {
		if before := s.clients[key][m]; key.origin == o && before != nil && before != session {
			s.clients[key][m] = session
			topics = append(topics, key.topic)
		}
	}
	return topics
}

// dropSubscriptions removes all subscriptions of the client, and returns those that no other client has in the same
// session.
func (m *Memory) dropSubscriptions() (orphaned map[subscription]*downstream.Session) {
	s := m.subscriptions
	s.mu.Lock()
	defer s.mu.Unlock()
	orphaned = make(map[subscription]*downstream.Session)
	for key := range m.subscribed {
		session := s.clients[key][m]
		s.remove(m, key)
		if session != nil && !s.isIn(key, session) {
			orphaned[key] = session
		}
	}
	return orphaned
}
