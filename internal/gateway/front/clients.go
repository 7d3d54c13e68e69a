package front

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// ConnectedClient is a client as a person sees it.
type ConnectedClient struct {
	ID            uint64 // of the connection, never reused
	Name, Version string // as it says; may be empty
	Folder        string // it works in; "" if that is not known
	Token         string // the name of the one it has, over HTTP; "" without
	Since         time.Time
	Modern        bool     // it speaks the modern era
	Opened        []string // toolboxes that it opened, in order of their names
}

// Clients returns the clients that have introduced themselves, those first that have been here for longest.
func (s *Server) Clients() []ConnectedClient {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]ConnectedClient, 0, len(s.sessions))
	for client := range s.sessions {
		if profile := client.profile.Load(); profile != nil && client.stateless.isListed() {
			all = append(all, ConnectedClient{
				ID: client.number, Name: profile.Name(), Version: profile.Version(), Folder: client.origin.Folder, Token: tokenOf(client.audience.Caller), Since: client.since,
				Modern: profile.Modern(), Opened: client.opened.list(),
			})
		}
	}
	slices.SortFunc(all, func(a, b ConnectedClient) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Folder, b.Folder))
	})
	return all
}

// tokenOf returns the name of the token of a caller; "" if it has none.
func tokenOf(caller string) string {
	name, ok := strings.CutPrefix(caller, config.CallerToken)
	if !ok {
		return ""
	}
	return name
}
