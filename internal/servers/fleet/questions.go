package fleet

import (
	"bytes"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// This file routes questions and notifications of servers to clients.

// handleQuestion routes a question of the server to its client. If the client cannot be determined, the question is
// refused, and from then on each client has a session of its own.
func (s *Server) handleQuestion(q *downstream.Question, caller downstream.Caller, several bool) {
	q.About.Toolbox, q.About.Server = s.toolbox, s.Name()
	if q.Method == protocol.MethodRootsList {
		s.handleRootsQuestion(q, caller, several)
		return
	}
	if s.askTaskOwner(q, caller) {
		return
	}
	if caller != nil {
		caller.Ask(q)
		return
	}
	clients := s.clients()
	switch {
	case !several && len(clients) == 1:
		clients[0].options.Ask(q)
	case len(clients) == 0 && !several:
		q.RefuseUnsupported()
	default:
		s.configured().variants.asks.add(s.person)
		s.log.Info("server asks its clients; from now on each has a session of its own with it")
		q.Refuse(protocol.CodeInternalError, "Several clients use this session, and none is known to be the one to ask")
	}
}

// handleRootsQuestion asks one of the clients for its roots: the one whose call the server works on, or else the first.
// From then on the server's responses may depend on them, so clients with other roots leave the session.
func (s *Server) handleRootsQuestion(q *downstream.Question, caller downstream.Caller, several bool) {
	clients := s.clients()
	var told *ClientProfile
	ask := func(q *downstream.Question) { q.RefuseUnsupported() }
	if len(clients) > 0 {
		told, ask = clients[0], clients[0].options.Ask
	}
	if caller != nil {
		told, _ = caller.Profile().(*ClientProfile)
		ask = caller.Ask
	}
	// A client without roots shares the session only with clients that have none either.
	isTold := told != nil && told.hasRoots && (caller != nil || !told.options.Modern)
	if isTold && !s.reserve(told, several) {
		q.Refuse(protocol.CodeInternalError, "Clients with different roots used this session, and none is known to be the one to ask")
		return
	}
	ask(q)
}

// reserve limits the session to clients with the roots of one of them. It returns false if that is not possible: the
// calls of several clients are under way and cannot be told apart, so all of them leave; or the session is reserved for
// other clients already, and an earlier call is still under way.
func (s *Server) reserve(told *ClientProfile, several bool) bool {
	v := &s.configured().variants
	v.mu.Lock()
	if !v.rooted {
		v.rooted = true
		s.log.Info("server asks for roots; from now on only clients with the same roots share it")
	}
	clients := v.clientsOf(s)
	v.mu.Unlock()
	if !slices.Contains(clients, told) {
		return false
	}
	roots := told.knownRoots()
	var others []*ClientProfile
	for _, p := range clients {
		if p != told && (roots == nil || !bytes.Equal(p.knownRoots(), roots)) {
			others = append(others, p)
		}
	}
	if several && len(others) > 0 {
		others = clients
	}
	for _, p := range others {
		p.drop(s)
	}
	if several && len(others) > 0 {
		return false
	}
	told.mu.Lock()
	defer told.mu.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	if key := told.key(s.configured(), true); key != s.key && !v.move(s, key) {
		key.roots, key.alone = "", told.number
		v.move(s, key)
	}
	return true
}

func (p *ClientProfile) knownRoots() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.roots
}

// AsksForRoots reports whether any server asked for roots, so that clients share it by their roots.
func (f *Fleet) AsksForRoots() bool {
	for _, box := range f.Toolboxes() {
		for _, server := range box.Servers {
			if server.variants.isRooted() {
				return true
			}
		}
	}
	return false
}

// notificationHandler returns the handler of the notifications of an instance. Changes of lists are announced when the
// lists have been read again; see followLists.
func (s *Server) notificationHandler(in *instance) func(message wire.Message, caller downstream.Caller, several bool) {
	return func(message wire.Message, caller downstream.Caller, several bool) {
		switch string(message.Method) {
		case protocol.NotifyResourcesList, protocol.NotifyPromptsList:
			in.lister.addNotice(message)
		default:
			s.handleNotification(message, caller, several)
		}
	}
}

// handleNotification routes a notification of the server to its clients.
func (s *Server) handleNotification(message wire.Message, caller downstream.Caller, several bool) {
	switch string(message.Method) {
	case protocol.NotifyResourceUpdated, protocol.NotifyTasks:
		for _, p := range s.clients() {
			p.options.Notice(s.configured(), message)
		}
		return
	}
	if s.notifyTaskClients(message) {
		return
	}
	clients := s.clients()
	switch {
	case caller != nil:
		caller.Notice(message)
	case !several && len(clients) == 1:
		clients[0].options.Notice(s.configured(), message)
	default:
		s.log.Debug("dropped a notification of the server: it is not known whom it is for", "method", string(message.Method))
	}
}
