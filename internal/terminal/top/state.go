package top

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// maxCalls is how many of the last calls are kept, of all workbenches together.
const maxCalls = 2000

// Workbench is a running workbench, and what is asked of it.
type Workbench struct {
	Status  control.Workbench // when it was found
	Watch   func(ctx context.Context, handle func(control.Event) error) error
	Refresh func(ctx context.Context) (control.Workbench, error)
	Waiting func(ctx context.Context) ([]control.Question, error) // questions, of one that does not know how to be watched
	Restart func(ctx context.Context, server control.Server) error
	Cancel  func(ctx context.Context, id string) error
	Detail  func(ctx context.Context, key string) (control.ServerDetail, error)
	Logs    func(ctx context.Context, server control.Server, last int, follow bool, handle func(control.Line)) error
	Answer  func(ctx context.Context, id string, answer approval.Answer) error
}

// state is what is known of all workbenches.
type state struct {
	benches []*bench
	calls   []history.Record // that ended, the oldest first
	skipped uint64           // calls that a workbench left out
}

// bench is what is known of one workbench.
type bench struct {
	Workbench
	polled    string // why it is asked again and again, and not watched; "" if it is watched
	isAsked   bool   // for the requests by tool
	servers   []server
	at        map[string]int // the servers, by their keys
	running   []control.RunningCall
	more      int // running calls that are left out
	questions []control.Question
	clients   []control.ConnectedClient
	memory    int64
	changes   int
	records   int // recordings that run
}

// server is what is known of a server.
type server struct {
	control.Server
	counts meter.Counts
	seen   time.Time // when Server was told
}

func (b *bench) pid() int { return b.Status.PID }

// find returns the workbench with a process id; nil without one.
func (s *state) find(pid int) *bench {
	for _, b := range s.benches {
		if b.pid() == pid {
			return b
		}
	}
	return nil
}

// add begins with a workbench. One that is there already begins again.
func (s *state) add(w Workbench) {
	s.remove(w.Status.PID)
	b := &bench{Workbench: w, at: make(map[string]int)}
	b.setStatus(w.Status, time.Time{})
	s.benches = append(s.benches, b)
	slices.SortStableFunc(s.benches, func(a, b *bench) int { return a.Status.Started.Compare(b.Status.Started) })
}

func (s *state) remove(pid int) {
	s.benches = slices.DeleteFunc(s.benches, func(b *bench) bool { return b.pid() == pid })
}

// setStatus takes over a state of which nothing else is told.
func (b *bench) setStatus(status control.Workbench, now time.Time) {
	b.Status = status
	b.memory, b.clients = status.Memory, status.Clients
	b.servers = nil
	clear(b.at)
	b.setServers(status.Servers, now)
	b.setActivity(status.Activity)
}

func (b *bench) setServers(all []control.Server, now time.Time) {
	for _, one := range all {
		at, known := b.at[one.Key]
		if !known {
			at = len(b.servers)
			b.at[one.Key] = at
			b.servers = append(b.servers, server{})
		}
		if one.PID != 0 && one.Memory == 0 {
			one.Memory, one.CPU = b.servers[at].Memory, b.servers[at].CPU // which are told with the counters
		}
		b.servers[at].Server, b.servers[at].seen = one, now
	}
}

// setActivity takes over the counts of servers. The first copy of a server has those of all.
func (b *bench) setActivity(activity []meter.Server) {
	b.Status.Activity = activity
	counts := make(map[string]meter.Counts, len(activity))
	for _, one := range activity {
		counts[one.Ref()] = one.Counts
	}
	for i := range b.servers {
		if one := &b.servers[i]; one.Key == one.Ref() {
			one.counts = counts[one.Ref()]
		}
	}
}

func (b *bench) removeServers(keys []string) {
	if len(keys) == 0 {
		return
	}
	var left []server // rows of the screen may have the others until it is drawn again
	for _, one := range b.servers {
		if !slices.Contains(keys, one.Key) {
			left = append(left, one)
		}
	}
	b.servers = left
	clear(b.at)
	for i, one := range b.servers {
		b.at[one.Key] = i
	}
}

// apply takes over what a workbench told.
func (s *state) apply(b *bench, event *control.Event, now time.Time) {
	if event.State != nil {
		b.Status, b.memory = *event.State, event.State.Memory
		b.servers = nil // everything begins again
		clear(b.at)
	}
	b.removeServers(event.Removed)
	b.setServers(event.Servers, now)
	if event.State != nil && len(b.Status.Activity) > 0 {
		b.setActivity(b.Status.Activity)
	}
	if event.Counters != nil {
		b.setCounters(event.Counters)
	}
	if event.Calls != nil {
		s.addCalls(b, event.Calls)
	}
	if event.Running != nil {
		b.running, b.more = event.Running.Calls, event.Running.More
	}
	if event.Questions != nil {
		b.questions = *event.Questions
	}
	if event.Clients != nil {
		b.clients = *event.Clients
	}
	if event.Changes != nil {
		b.changes = *event.Changes
	}
	if event.Recordings != nil {
		b.records = len(*event.Recordings)
	}
}

func (b *bench) setCounters(counters *control.Counters) {
	b.memory = counters.Memory
	for _, one := range counters.Servers {
		if at, known := b.at[one.Key]; known {
			b.servers[at].Memory, b.servers[at].CPU, b.servers[at].counts = one.Memory, one.CPU, one.Counts
		}
	}
}

func (s *state) addCalls(b *bench, batch *control.CallBatch) {
	s.skipped += batch.Skipped
	for _, call := range batch.Calls {
		call.PID = b.pid()
		s.calls = append(s.calls, call)
	}
	if over := len(s.calls) - maxCalls; over > maxCalls/10 { // not with each call
		s.calls = slices.Clone(s.calls[over:])
	}
}

// clone returns a copy that does not change with the original.
func (s *state) clone() *state {
	copied := &state{calls: slices.Clone(s.calls), skipped: s.skipped}
	for _, b := range s.benches {
		one := *b
		one.servers, one.at = slices.Clone(b.servers), maps.Clone(b.at)
		copied.benches = append(copied.benches, &one)
	}
	return copied
}
