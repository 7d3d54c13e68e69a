package page

import (
	"maps"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// state is what is known of a workbench: all its events as one.
type state struct {
	last     control.Event // its lists that are sent whole
	order    []string      // keys of servers, in the order in which they came
	servers  map[string]control.Server
	counters map[string]control.ServerCounters
}

func newState() *state { return &state{} }

// apply adds an event.
func (s *state) apply(event *control.Event) {
	if event.State != nil {
		*s = state{servers: make(map[string]control.Server), counters: make(map[string]control.ServerCounters)}
		s.last.State = event.State
	}
	if s.servers == nil {
		return // its first event has the state
	}
	for _, server := range event.Servers {
		if _, known := s.servers[server.Key]; !known {
			s.order = append(s.order, server.Key)
		}
		s.servers[server.Key] = server
	}
	for _, key := range event.Removed {
		delete(s.servers, key)
		delete(s.counters, key)
		s.order = slices.DeleteFunc(s.order, func(other string) bool { return other == key })
	}
	if event.Counters != nil {
		for _, one := range event.Counters.Servers {
			s.counters[one.Key] = one
		}
		s.last.Counters = &control.Counters{At: event.Counters.At, Memory: event.Counters.Memory}
	}
	s.last.Running = orLast(event.Running, s.last.Running)
	s.last.Questions = orLast(event.Questions, s.last.Questions)
	s.last.Clients = orLast(event.Clients, s.last.Clients)
	s.last.Changes = orLast(event.Changes, s.last.Changes)
	s.last.Recordings = orLast(event.Recordings, s.last.Recordings)
}

func orLast[T any](now, last *T) *T {
	if now != nil {
		return now
	}
	return last
}

// whole returns the event that says all. Calls that ended are not in it: a tab asks for the history.
func (s *state) whole() *control.Event {
	event := s.last
	for _, key := range s.order {
		event.Servers = append(event.Servers, s.servers[key])
	}
	if event.Counters != nil {
		counters := *event.Counters
		counters.Servers = nil
		for _, key := range slices.Sorted(maps.Keys(s.counters)) {
			counters.Servers = append(counters.Servers, s.counters[key])
		}
		event.Counters = &counters
	}
	return &event
}
