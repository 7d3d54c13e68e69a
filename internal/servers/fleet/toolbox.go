package fleet

import (
	"context"
	"fmt"
	"strings"
)

// Toolbox is a named group of servers, in the order of the configuration.
type Toolbox struct {
	Name, Description string
	Servers           []*Server // without the disabled ones

	byName   map[string]*Server
	disabled []string
}

// Server returns the server of that name.
func (t *Toolbox) Server(name string) (*Server, bool) {
	s, ok := t.byName[name]
	return s, ok
}

// Disabled returns the names of the servers that the configuration disables.
func (t *Toolbox) Disabled() []string { return t.disabled }

// IsDisabled reports whether all servers are disabled. A toolbox without servers is not: it is configured that way.
func (t *Toolbox) IsDisabled() bool { return len(t.Servers) == 0 && len(t.disabled) > 0 }

// ServerNames returns the servers' names in order.
func (t *Toolbox) ServerNames() []string {
	names := make([]string, len(t.Servers))
	for i, s := range t.Servers {
		names[i] = s.Name()
	}
	return names
}

// missingServers is how many servers an error names.
const missingServers = 5

// NameServers names servers for people, the first few of them.
func NameServers(servers []*Server) string {
	var names []string
	for _, server := range servers[:min(len(servers), missingServers)] {
		names = append(names, fmt.Sprintf("server '%s' (toolbox '%s')", server.Name(), server.Toolbox()))
	}
	text := strings.Join(names, ", ")
	if more := len(servers) - missingServers; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Opened is what became of one server when its toolbox was opened.
type Opened struct {
	Server *Server
	Lease  *Lease // nil if it failed
	Err    error
}

// Connect connects configured servers for a client in parallel, as far as they are not, and
// returns them in order. Release the leases. connected is called, if it is not nil, as each
// server is done, from one goroutine at a time.
func Connect(ctx context.Context, servers []*Server, profile *ClientProfile, connected func(Opened)) []Opened {
	results := make([]Opened, len(servers))
	done := make(chan int)
	for i, server := range servers {
		go func() {
			lease, err := server.LeaseFor(ctx, profile)
			results[i] = Opened{server, lease, err}
			done <- i
		}()
	}
	for range servers {
		i := <-done
		if connected != nil {
			connected(results[i])
		}
	}
	return results
}
