package app

import (
	"os"
	"slices"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// seenServer is a session as a watcher knows it.
type seenServer struct {
	glance fleet.Glance
	pid    int
	look   uint64 // in which it was last there
}

// countedServer is what a watcher knows of the counters of a session.
type countedServer struct {
	mark meter.Mark
	sent control.ServerCounters
}

// lookAtServers compares all sessions with what they were. Only the status of those that changed is collected.
func (w *watcher) lookAtServers(event *control.Event) {
	now := w.App.fleet.Glances(w.spare[:0])
	w.spare, w.glances = w.glances, now
	if slices.Equal(now, w.spare) && event.State == nil {
		return
	}
	w.looks++
	keys := make(copyKeys, len(now))
	for n := range now {
		glance := &now[n]
		box, server := glance.Server()
		key := keys.next(box, server)
		known, ok := w.seen[key]
		isChanged := !ok || known.glance != *glance
		w.seen[key] = seenServer{*glance, glance.PID(), w.looks}
		if isChanged {
			status := glance.Status()
			event.Servers = append(event.Servers, row(key, &status))
		}
	}
	for key, known := range w.seen {
		if known.look != w.looks {
			delete(w.seen, key)
			delete(w.counted, key)
			event.Removed = append(event.Removed, key)
		}
	}
}

// lookAtCounters reads what is counted, for the sessions of which it changed.
func (w *watcher) lookAtCounters(now time.Time, event *control.Event) {
	leaders := []int{os.Getpid()}
	for _, known := range w.seen {
		if known.pid != 0 {
			leaders = append(leaders, known.pid)
		}
	}
	uses := w.App.usage.read(leaders, now)
	counters := control.Counters{At: now, Memory: uses[leaders[0]].memory, Servers: []control.ServerCounters{}}
	for key, known := range w.seen {
		counted := w.counted[key]
		next := counted.sent
		use := uses[known.pid]
		next.Key, next.Memory, next.CPU = key, use.memory, use.cpuPercent
		counters.Memory -= next.Memory
		if box, server := known.glance.Server(); key == box+"/"+server {
			if counts, isChanged := w.App.meter.ReadChanged(box, server, now, &counted.mark); isChanged {
				next.Counts = counts
			}
		}
		if next != counted.sent {
			counted.sent = next
			counters.Servers = append(counters.Servers, next)
			w.counted[key] = counted
		}
	}
	counters.Memory = max(counters.Memory, 0)
	if len(counters.Servers) > 0 || counters.Memory != w.memory || event.State != nil {
		w.memory = counters.Memory
		event.Counters = &counters
	}
}

func (w *watcher) lookAtQuestions(isFirst bool, event *control.Event) {
	now := w.Questions()
	isSame := slices.EqualFunc(now, w.questions, func(a, b control.Question) bool { return a.ID == b.ID && a.Deadline.Equal(b.Deadline) })
	if isFirst || !isSame {
		w.questions = now
		event.Questions = &now
	}
}

func (w *watcher) lookAtClients(isFirst bool, event *control.Event) {
	now := w.Inspector.clients(w.folder())
	isSame := slices.EqualFunc(now, w.clients, func(a, b control.ConnectedClient) bool {
		return a.ID == b.ID && a.Name == b.Name && a.Version == b.Version && a.Folder == b.Folder && slices.Equal(a.Opened, b.Opened)
	})
	if isFirst || !isSame {
		w.clients = now
		event.Clients = &now
	}
}

func (w *watcher) lookAtRecordings(isFirst bool, event *control.Event) {
	now := w.RunningRecordings()
	if isFirst || !slices.Equal(now, w.recordings) {
		w.recordings = now
		event.Recordings = &now
	}
}

func (w *watcher) lookAtRunning(isFirst bool, event *control.Event) {
	now := w.Running()
	if isFirst || now.More != w.running.More || !slices.Equal(now.Calls, w.running.Calls) {
		w.running = now
		event.Running = &now
	}
}

// lookAtWork looks at what a person may have to do.
func (w *watcher) lookAtWork(isFirst bool, event *control.Event) {
	if seen := w.App.changesSeen(); isFirst || seen != w.changesSeen {
		w.changesSeen = seen
		if now := w.App.openChanges(); isFirst || now != w.changes {
			w.changes = now
			event.Changes = &now
		}
	}
}
