package passthrough

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// maxTasks is how many tasks of a client are remembered.
const maxTasks = 10_000

// taskNames say which server a task belongs to. Servers choose the ids themselves, so that two
// may choose the same; the one that comes second is known by another, which says where it
// leads as renamed URIs do.
type taskNames struct {
	known map[string]taskOf   // by the id as the client knows it
	as    map[taskOf]string   // and the other way round
	order []string            // ids as the client knows them, the oldest first
	other map[origin]struct{} // servers of which a task has another id
}

// taskOf is a task by the id that its server gave it.
type taskOf struct {
	origin origin
	id     string
}

// give returns the id under which the client knows a server's task, and remembers it.
func (t *taskNames) give(o origin, id string) string {
	task := taskOf{o, id}
	if as, ok := t.as[task]; ok || id == "" {
		return as
	}
	if t.known == nil {
		t.known, t.as, t.other = make(map[string]taskOf), make(map[taskOf]string), make(map[origin]struct{})
	}
	as := id
	if _, taken := t.known[id]; taken || isOurs(id) {
		as = o.rename(id)
		t.other[o] = struct{}{}
	}
	if len(t.order) == maxTasks {
		oldest := t.order[0]
		t.order = t.order[1:]
		delete(t.as, t.known[oldest])
		delete(t.known, oldest)
	}
	t.order = append(t.order, as)
	t.known[as], t.as[task] = task, as
	return as
}

// name returns the id under which the client would know a server's task.
func (t *taskNames) name(o origin, id string) string {
	if as, ok := t.as[taskOf{o, id}]; ok {
		return as
	}
	if task, taken := t.known[id]; taken && task.origin != o {
		return o.rename(id)
	}
	return id
}

// learnTask remembers whose task it is.
func (m *Memory) learnTask(id string, o origin) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.giveTask(o, id)
}

// giveTask returns the id under which the client knows a task from now on. Called with mu held.
func (m *Memory) giveTask(o origin, id string) string {
	as := m.tasks.give(o, id)
	if as != id {
		m.renamed.Store(true)
	}
	return as
}

// nameTasks replaces the ids of tasks by those that the client knows. Called with mu held.
func (m *Memory) nameTasks(lists []offered, names [][]string) {
	for i, list := range lists {
		for j, id := range names[i] {
			names[i][j] = m.giveTask(list.origin, id)
		}
	}
}

// taskOwner returns whose task it is that the client knows by that id.
func (m *Memory) taskOwner(id string) (task taskOf, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	task, ok = m.tasks.known[id]
	return task, ok
}

// ofTask returns the params of a notification about a task, with the id as the client knows
// it: otherwise it might be taken for one about the task of another server.
func (m *Memory) ofTask(o origin, message wire.Message) []byte {
	part := message.Params.Member("taskId")
	id, ok := part.Text()
	m.mu.Lock()
	as := m.tasks.name(o, id)
	m.mu.Unlock()
	if !ok || as == id {
		return rawParams(message)
	}
	return wire.AppendEdited(nil, message.Params, wire.Edit{Part: part, With: wire.AppendString(nil, as)})
}

// task looks at the id of a task that a result has.
func (l *linker) task(part wire.Payload) {
	id, ok := part.Text()
	if !ok {
		return
	}
	as := l.memory.tasks.name(l.origin, id)
	if id == l.original {
		as = l.asked
	}
	if as != id {
		l.edits = append(l.edits, wire.Edit{Part: part, With: wire.AppendString(nil, as)})
	}
}

// isAboutTask reports whether a request names a task.
func isAboutTask(method string) bool {
	about := protocol.FindMethod(method)
	return about.Subject == protocol.SubjectTask && about.Updates == protocol.LeavesUpdates
}

// taskMade returns the id of the task that a request became by its result.
func taskMade(result wire.Payload) (id string, ok bool) {
	var made, own, kind wire.Payload
	for key, value := range result.Members() {
		switch string(key) {
		case "task":
			made = value
		case "taskId":
			own = value
		case protocol.ResultType:
			kind = value
		}
	}
	if name, _ := kind.Name(); name == protocol.ResultTask {
		return own.Text()
	}
	return made.Member("taskId").Text()
}

// learnMade remembers the task that the request became, if it did.
func (a *attempt) learnMade(result wire.Payload) {
	if a.kind.capability == tasks.Capability || !bytes.Contains(result.Bytes(), []byte("taskId")) {
		return
	}
	if id, ok := taskMade(result); ok {
		a.memory.learnTask(id, originOf(a.server))
		a.carrier.madeTask(a.server, id)
	}
}

// ownPlaces takes out the places where a request would be about a task that is not for the client.
func (e *errand) ownPlaces(places []place) []place {
	return slices.DeleteFunc(places, func(at place) bool {
		if !e.carrier.servesOthers(at.server) {
			return false
		}
		id, ok := e.request.Params.Member("taskId").Text()
		if ok && at.asked != at.original {
			id = at.original
		}
		return ok && e.carrier.hidesTask(at.server, id)
	})
}

// refuseTask answers a request about a task that is not for the client, or that there is not.
func (e *errand) refuseTask() {
	id, _ := e.request.Params.Member("taskId").Text()
	e.refuse(protocol.CodeInvalidParams, fmt.Sprintf("Task not found: '%.200s'. A task is known to the client that made it, as long as its server keeps it", id), nil)
}

// isMissingTask reports whether a server that others use says that there is no such task. In its own words that
// would be told from a task of others.
func (a *attempt) isMissingTask(rpcError wire.Payload) bool {
	_, isTask := a.request.Params.Member("taskId").Text()
	return isTask && a.carrier.servesOthers(a.server) && code(rpcError) != protocol.CodeMethodNotFound && isMissing(rpcError, "")
}

// ownTasks takes the tasks out of a server's list that are not for the client.
func (e *errand) ownTasks(server *fleet.Server, list []wire.Payload) []wire.Payload {
	if !e.carrier.servesOthers(server) {
		return list
	}
	return slices.DeleteFunc(list, func(entry wire.Payload) bool {
		id, _ := entry.Member(tasks.Key).Text()
		return e.carrier.hidesTask(server, id)
	})
}

// isForeign reports whether a notification is about a task that is not for the client.
func (p *Passage) isForeign(session Session, server *fleet.Server, message wire.Message) bool {
	carrier := p.carry(session)
	if !carrier.servesOthers(server) {
		return false
	}
	id, ok := downstream.TaskIn(string(message.Method), message.Params)
	return ok && carrier.hidesTask(server, id)
}
