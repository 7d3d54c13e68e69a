package passage

import (
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
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
	switch method {
	case protocol.MethodTasksGet, protocol.MethodTasksResult, protocol.MethodTasksUpdate, protocol.MethodTasksCancel:
		return true
	}
	return false
}
