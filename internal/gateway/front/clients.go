package front

import (
	"cmp"
	"slices"
	"time"
)

// ConnectedClient is a client as a person sees it.
type ConnectedClient struct {
	ID            uint64 // of the connection, never reused
	Name, Version string // as it says; may be empty
	Folder        string // it works in; "" if that is not known
	Caller        string // as a rule of the policy names it
	Display       string // the name of the person who signed in, for people to read; "": it is not known
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
				ID: client.number, Name: profile.Name(), Version: profile.Version(), Folder: client.origin.Folder, Caller: client.audience.Caller, Display: client.display, Since: client.since,
				Modern: profile.Modern(), Opened: client.opened.list(),
			})
		}
	}
	slices.SortFunc(all, func(a, b ConnectedClient) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Folder, b.Folder))
	})
	return all
}
