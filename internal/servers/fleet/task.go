package fleet

import (
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Clients of different persons may share a session with a server, which cannot distinguish them. This file records the
// owners of tasks: only the clients of one person may see a task.

// personsSeen records whether the clients of one or of several persons have used something.
type personsSeen struct {
	any     bool
	first   string
	several bool
}

func (p *personsSeen) add(person string) {
	if !p.any {
		p.any, p.first = true, person
	}
	p.several = p.several || p.first != person
}

// hasOthers reports whether anyone but the given person was seen.
func (p *personsSeen) hasOthers(than string) bool { return p.several || p.any && p.first != than }

// maxOwned is the number of tasks of a person that are remembered for a server.
const maxOwned = 10_000

// taskOwners maps the ids of tasks to their owners.
type taskOwners struct {
	mu       sync.Mutex
	byID     map[string]*ClientProfile // the client that created it; nil if clients of several persons did
	byPerson map[string][]string       // the oldest first
}

// add records a task. If a server uses an id twice, the id belongs to the last task. shared means that other sessions may
// use the same id for other tasks; an id of several persons then belongs to none of them.
func (t *taskOwners) add(id string, maker *ClientProfile, shared bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil {
		t.byID, t.byPerson = make(map[string]*ClientProfile), make(map[string][]string)
	}
	person := maker.options.Person
	before, known := t.byID[id]
	isOwn := before != nil && before.options.Person == person
	t.byID[id] = maker
	if known && shared && !isOwn {
		t.byID[id] = nil
	}
	if isOwn {
		return
	}
	of := t.byPerson[person]
	if len(of) == maxOwned {
		if oldest := t.byID[of[0]]; oldest != nil && oldest.options.Person == person {
			delete(t.byID, of[0])
		}
		of = of[1:]
	}
	t.byPerson[person] = append(of, id)
}

func (t *taskOwners) find(id string) (maker *ClientProfile, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maker, known = t.byID[id]
	return maker, known
}

// RecordTask records that the server created a task for the client.
func (s *Server) RecordTask(p *ClientProfile, id string) {
	variant := s.existingVariant(p)
	if p == nil || variant == nil {
		return
	}
	variant.tasks.add(id, p, false)
	if variant.person == "" || s.config.URL != "" { // a process of one person has no tasks of others
		s.variants.tasks.add(id, p, true)
	}
}

// ServesOthers reports whether clients of other persons use or have used the server: not a process of one person alone, though
// another one may have its own; of a remote server, it is not known what its sessions have in common. Where people sign in, others
// may have used the account at a remote server before the workbench was started.
func (s *Server) ServesOthers(p *ClientProfile) bool {
	if p == nil || s.instances != config.InstancesShared && s.config.URL == "" {
		return false
	}
	if s.config.URL != "" && !s.HasOwnAccounts() && p.options.Person != "" && s.fleet.table.Load().config.HTTP.OAuth != nil {
		return true
	}
	s.variants.mu.Lock()
	defer s.variants.mu.Unlock()
	return s.variants.persons.hasOthers(p.options.Person)
}

// HidesTask reports whether the client must not see a task of the server, because it belongs to another person, or may
// because its owner is unknown. A remote server may have the same tasks in all of its sessions.
func (s *Server) HidesTask(p *ClientProfile, id string) bool {
	if !s.ServesOthers(p) {
		return false
	}
	isOthers := func(maker *ClientProfile) bool { return maker == nil || maker.options.Person != p.options.Person }
	variant, remote := s.existingVariant(p), s.config.URL != ""
	shares := remote || variant != nil && variant.isOfOthers(p)
	if variant != nil {
		if maker, known := variant.tasks.find(id); known {
			return isOthers(maker)
		}
	}
	if maker, known := s.variants.tasks.find(id); known {
		return isOthers(maker) || shares && !remote
	}
	return shares
}

// isOfOthers reports whether clients of other persons use or have used the variant.
func (s *Server) isOfOthers(p *ClientProfile) bool {
	v := &s.configured().variants
	v.mu.Lock()
	defer v.mu.Unlock()
	return s.persons.hasOthers(p.options.Person)
}

// askTaskOwner sends a question about a task to the task's owner. It returns false if all clients of the session belong
// to one person.
func (s *Server) askTaskOwner(q *downstream.Question, caller downstream.Caller) bool {
	id, ok := downstream.TaskIn(q.Method, q.Params)
	if !ok {
		return false
	}
	v := &s.configured().variants
	v.mu.Lock()
	several, clients := s.persons.several, v.clientsOf(s)
	v.mu.Unlock()
	if !several {
		return false
	}
	maker, _ := s.tasks.find(id)
	if maker == nil {
		q.Refuse(protocol.CodeInternalError, "It is not known whose the task is that the question belongs to")
		return true
	}
	if caller != nil {
		if p, _ := caller.Profile().(*ClientProfile); p == maker {
			caller.Ask(q)
			return true
		}
	}
	var owner *ClientProfile
	for _, p := range clients {
		if p == maker || owner == nil && p.options.Person == maker.options.Person {
			owner = p
		}
	}
	if owner == nil {
		q.Refuse(protocol.CodeInternalError, "The client is gone whose task the question belongs to")
		return true
	}
	owner.options.Ask(q)
	return true
}

// notifyTaskClients sends a notification about a task to all clients of the session, which filter it. It returns false if
// all of them belong to one person.
func (s *Server) notifyTaskClients(message wire.Message) bool {
	v := &s.configured().variants
	v.mu.Lock()
	several, clients := s.persons.several, v.clientsOf(s)
	v.mu.Unlock()
	if !several {
		return false
	}
	if _, ok := downstream.TaskIn(string(message.Method), message.Params); !ok {
		return false
	}
	for _, p := range clients {
		p.options.Notice(s.configured(), message)
	}
	return true
}
