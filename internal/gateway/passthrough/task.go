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

// taskNames are the ids under which a client knows the tasks of its servers. Servers choose ids themselves, so two may
// choose the same; the second task gets another id, which names its server as renamed URIs do.
type taskNames struct {
	tasks   map[string]taskRef  // by the client's id
	ids     map[taskRef]string  // the client's ids
	order   []string            // the client's ids, the oldest first
	renamed map[origin]struct{} // servers that have a renamed task
}

// taskRef is a task by the id that its server gave it.
type taskRef struct {
	origin origin
	id     string
}

// assign returns the id under which the client knows a task from now on.
func (t *taskNames) assign(o origin, id string) string {
	task := taskRef{o, id}
	if clientID, ok := t.ids[task]; ok || id == "" {
		return clientID
	}
	if t.tasks == nil {
		t.tasks, t.ids, t.renamed = make(map[string]taskRef), make(map[taskRef]string), make(map[origin]struct{})
	}
	clientID := id
	if _, taken := t.tasks[id]; taken || isOwnURI(id) {
		clientID = o.rename(id)
		t.renamed[o] = struct{}{}
	}
	if len(t.order) == maxTasks {
		oldest := t.order[0]
		t.order = t.order[1:]
		delete(t.ids, t.tasks[oldest])
		delete(t.tasks, oldest)
	}
	t.order = append(t.order, clientID)
	t.tasks[clientID], t.ids[task] = task, clientID
	return clientID
}

// lookup returns the id that a task has for the client, or would have.
func (t *taskNames) lookup(o origin, id string) string {
	if clientID, ok := t.ids[taskRef{o, id}]; ok {
		return clientID
	}
	if task, taken := t.tasks[id]; taken && task.origin != o {
		return o.rename(id)
	}
	return id
}

// learnTask records the server of a task.
func (m *Memory) learnTask(id string, o origin) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.assignTask(o, id)
}

// assignTask returns the id under which the client knows a task from now on. Called with mu held.
func (m *Memory) assignTask(o origin, id string) string {
	clientID := m.tasks.assign(o, id)
	if clientID != id {
		m.renamed.Store(true)
	}
	return clientID
}

// nameTasks replaces the ids of tasks by those that the client knows. Called with mu held.
func (m *Memory) nameTasks(lists []serverList, names [][]string) {
	for i, list := range lists {
		for j, id := range names[i] {
			names[i][j] = m.assignTask(list.origin, id)
		}
	}
}

// taskOwner returns the task that the client knows by the id.
func (m *Memory) taskOwner(clientID string) (task taskRef, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	task, ok = m.tasks.tasks[clientID]
	return task, ok
}

// taskParams returns the params of a notification about a task, with the id that the client knows.
func (m *Memory) taskParams(o origin, message wire.Message) []byte {
	part := message.Params.Member(protocol.SubjectTask)
	id, ok := part.Text()
	m.mu.Lock()
	clientID := m.tasks.lookup(o, id)
	m.mu.Unlock()
	if !ok || clientID == id {
		return rawParams(message)
	}
	return wire.AppendEdited(nil, message.Params, wire.Edit{Part: part, With: wire.AppendString(nil, clientID)})
}

// task edits the id of a task in a result.
func (l *linkEditor) task(part wire.Payload) {
	id, ok := part.Text()
	if !ok {
		return
	}
	clientID := l.memory.tasks.lookup(l.origin, id)
	if id == l.serverName {
		clientID = l.clientName
	}
	if clientID != id {
		l.replace(part, clientID)
	}
}

// createdTask returns the id of the task that a request became, by its result.
func createdTask(result wire.Payload) (id string, ok bool) {
	var task, taskID, resultType wire.Payload
	for key, value := range result.Members() {
		switch string(key) {
		case "task":
			task = value
		case protocol.SubjectTask:
			taskID = value
		case protocol.ResultType:
			resultType = value
		}
	}
	if name, _ := resultType.Name(); name == protocol.ResultTask {
		return taskID.Text()
	}
	return task.Member(protocol.SubjectTask).Text()
}

// learnCreatedTask records the task that the request became, if it did.
func (r *routing) learnCreatedTask(result wire.Payload) {
	if r.method.Capability == tasks.Capability || !bytes.Contains(result.Bytes(), []byte(protocol.SubjectTask)) {
		return
	}
	if id, ok := createdTask(result); ok {
		r.memory.learnTask(id, originOf(r.server))
		r.server.RecordTask(r.Session.Profile(), id)
	}
}

// withoutForeignTasks removes the candidates whose task belongs to another person.
func (r *routing) withoutForeignTasks(candidates []candidate) []candidate {
	return slices.DeleteFunc(candidates, func(c candidate) bool {
		if !c.server.ServesOthers(r.Session.Profile()) {
			return false
		}
		id, ok := r.Params.Member(protocol.SubjectTask).Text()
		if ok && c.isRenamed() {
			id = c.serverName
		}
		return ok && c.server.HidesTask(r.Session.Profile(), id)
	})
}

// refuseTask answers a request about a task that belongs to another person, or does not exist.
func (r *routing) refuseTask() {
	id, _ := r.Params.Member(protocol.SubjectTask).Text()
	r.refuse(protocol.CodeInvalidParams, fmt.Sprintf("Task not found: '%.200s'. A task is known to the client that made it, as long as its server keeps it", id), nil)
}

// isMissingTask reports whether a server that other people use answered that a task does not exist. Its own message
// would differ from refuseTask, and so tell that a task of another person exists.
func (r *routing) isMissingTask(rpcError wire.Payload) bool {
	_, isTask := r.Params.Member(protocol.SubjectTask).Text()
	return isTask && r.server.ServesOthers(r.Session.Profile()) && code(rpcError) != protocol.CodeMethodNotFound && isMissing(rpcError, "")
}

// withoutForeignEntries removes the tasks of other people from the list of a server.
func (r *routing) withoutForeignEntries(server *fleet.Server, entries []wire.Payload) []wire.Payload {
	if !server.ServesOthers(r.Session.Profile()) {
		return entries
	}
	return slices.DeleteFunc(entries, func(entry wire.Payload) bool {
		id, _ := entry.Member(tasks.Key).Text()
		return server.HidesTask(r.Session.Profile(), id)
	})
}

// isAboutForeignTask reports whether a notification is about a task of another person.
func isAboutForeignTask(session Session, server *fleet.Server, message wire.Message) bool {
	if !server.ServesOthers(session.Profile()) {
		return false
	}
	id, ok := downstream.TaskIn(string(message.Method), message.Params)
	return ok && server.HidesTask(session.Profile(), id)
}
