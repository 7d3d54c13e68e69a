package call

import (
	"fmt"
	"strconv"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// This file polls tasks that a modern server creates for requests of legacy clients, which do not know tasks and wait
// for the result.

// Poll intervals.
const (
	usualPoll    = time.Second            // between two polls of a task that names no interval
	shortestPoll = 100 * time.Millisecond // between two polls of a task, whatever it asks for
	longestPoll  = 30 * time.Second       // between two polls of a task, whatever it asks for
)

// task is a task that the server created for a request. Only one goroutine uses it at a time.
type task struct {
	run      *run
	id       []byte // a JSON string
	pause    time.Duration
	state    string    // the last one seen
	moved    time.Time // when the state last changed
	answered map[string]bool
	updating bool // the request in flight carries answers
}

// pollTask begins to poll a task. It returns false if the result names none.
func (r *run) pollTask(result wire.Payload) bool {
	id := result.Member("taskId")
	if id.Kind() != "string" {
		return false
	}
	t := &task{run: r, id: clone(id).Bytes(), pause: usualPoll, moved: time.Now(), answered: make(map[string]bool)}
	t.update(result)
	r.mu.Lock()
	r.task = t
	r.mu.Unlock()
	t.pollLater()
	return true
}

// update records the state of the task.
func (t *task) update(result wire.Payload) {
	if ms, err := strconv.Atoi(string(result.Member("pollIntervalMs").Bytes())); err == nil {
		t.pause = min(max(time.Duration(ms)*time.Millisecond, shortestPoll), longestPoll)
	}
	state := ""
	for _, key := range []string{"status", "statusMessage", "lastUpdatedAt"} {
		state += string(result.Member(key).Bytes()) + " "
	}
	if state != t.state {
		t.state, t.moved = state, time.Now()
	}
}

func (t *task) pollLater() {
	later := &delay{begun: make(chan struct{})}
	later.timer = time.AfterFunc(t.pause, func() {
		<-later.begun
		t.run.proceed(later, awaitsServer, func() error { return t.send(protocol.MethodTasksGet, nil) })
	})
	t.run.timing.enter(awaitsServer)
	t.run.waitFor(later)
	close(later.begun)
}

// send sends a request about the task, with additional members of its params.
func (t *task) send(method string, members []byte) (err error) {
	t.run.id, err = t.run.lease.Session.Forward(downstream.Forward{Method: method, Params: t.params(), Extra: members}, t.run)
	return err
}

func (t *task) params() wire.Payload {
	return wire.Raw(append(append([]byte(`{"taskId":`), t.id...), '}'))
}

// cancel cancels the task at the server.
func (t *task) cancel() {
	t.run.lease.Session.Send(protocol.MethodTasksCancel, t.params().Bytes())
}

// handleResponse handles the response to a request about the task. It returns false for an error, which is final.
func (t *task) handleResponse(response wire.Message) bool {
	r, result := t.run, response.Result
	if !response.Error.IsAbsent() {
		return false
	}
	if t.updating {
		t.updating = false
		t.pollLater()
		return true
	}
	t.update(result)
	switch status, _ := result.Member("status").Text(); status {
	case "completed", "failed":
		end := wire.Message{Result: result.Member("result"), Error: result.Member("error")}
		if end.Result.IsAbsent() == end.Error.IsAbsent() {
			r.finish(Outcome{}, &Failure{Message: "the task that the server made of the request ended without a result or an error"})
			return true
		}
		r.finish(r.shape(end))
	case "cancelled":
		r.finish(Outcome{}, &Failure{Message: "the server cancelled the task that it had made of the request"})
	case "input_required":
		t.ask(result.Member("inputRequests"))
	default:
		if limit := r.lease.Session.Patience(); time.Since(t.moved) >= limit {
			t.cancel()
			r.errorType = typeTimeout
			r.finish(Outcome{}, &Failure{Message: fmt.Sprintf("the task that the server made of the request did not get on for %s (timeouts.call): timeout", limit)})
			return true
		}
		t.pollLater()
	}
	return true
}

// ask sends those questions of the task to the client that are new.
func (t *task) ask(questions wire.Payload) {
	open := []byte("{")
	for key, request := range questions.Members() {
		if t.answered[string(key)] {
			continue
		}
		t.answered[string(key)] = true
		if len(open) > 1 {
			open = append(open, ',')
		}
		open = append(append(wire.AppendString(open, string(key)), ':'), request.Bytes()...)
	}
	if len(open) == 1 {
		t.pollLater()
		return
	}
	r := t.run
	r.ask(wire.Raw(append(open, '}')), func(interim waiting, responses []byte) {
		r.proceed(interim, awaitsServer, func() error {
			t.updating = true
			return t.send(protocol.MethodTasksUpdate, append([]byte(`"`+protocol.InputResponses+`":`), responses...))
		})
	})
}
