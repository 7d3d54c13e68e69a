package passthrough

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// serverState is what is known of a server without starting it.
type serverState struct {
	server       *fleet.Server
	running      bool
	seen         bool          // the capabilities are known, perhaps from an earlier run
	capabilities wire.Payload  // as the server declared them
	lists        catalog.Lists // as the server sent them last
}

// stateOf returns the state of a server for a client. It starts nothing, and may read a file.
func stateOf(server *fleet.Server, session Session) serverState {
	profile := session.Profile()
	state := serverState{server: server, lists: server.ListsFor(profile)}
	if live := server.SessionFor(profile); live != nil {
		state.running, state.seen, state.capabilities = true, true, live.Capabilities()
	} else if offered := server.OfferedFor(profile); offered != nil {
		state.seen, state.capabilities = true, offered.Capabilities
	}
	return state
}

// connectUnseen connects the servers that were never seen, in parallel.
func (r *routing) connectUnseen(ctx context.Context) {
	if !slices.ContainsFunc(r.states, func(s serverState) bool { return !s.seen }) {
		return
	}
	ctx, stop := context.WithDeadline(ctx, r.Session.WaitUntil(connectTime))
	defer stop()
	var group sync.WaitGroup
	for i := range r.states {
		if state := &r.states[i]; !state.seen {
			group.Go(func() { state.connect(ctx, r.Session) })
		}
	}
	group.Wait()
}

// connectTime is how long a client of direct mode waits for servers that were never seen.
const connectTime = 5 * time.Second

// connect starts the server and reads its capabilities. The fleet logs why that fails.
func (s *serverState) connect(ctx context.Context, session Session) {
	lease, err := s.server.LeaseFor(ctx, session.Profile())
	if err != nil {
		return
	}
	defer lease.Release()
	s.seen, s.running, s.capabilities = true, true, lease.Session.Capabilities()
}

// loadStates looks at the servers in scope.
func (r *routing) loadStates() {
	r.states = make([]serverState, len(r.scope))
	for i, server := range r.scope {
		r.states[i] = stateOf(server, r.Session)
	}
}

// declaring returns the servers that are known to declare a method, in order.
func (r *routing) declaring(method *protocol.Method) (states []serverState) {
	for _, s := range r.states {
		if s.seen && method.IsDeclared(s.capabilities) {
			states = append(states, s)
		}
	}
	return states
}

// running returns the running servers that declare a method.
func (r *routing) running(method *protocol.Method) (servers []*fleet.Server) {
	for _, s := range r.declaring(method) {
		if s.running {
			servers = append(servers, s.server)
		}
	}
	return servers
}

// stopped returns the servers that are not running and may declare a method.
func (r *routing) stopped(method *protocol.Method) (servers []*fleet.Server) {
	for _, s := range r.states {
		if !s.running && (!s.seen || method.IsDeclared(s.capabilities)) {
			servers = append(servers, s.server)
		}
	}
	return servers
}
