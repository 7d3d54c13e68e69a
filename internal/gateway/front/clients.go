package front

import (
	"cmp"
	"slices"
	"time"
)

// ConnectedClient is a client as a person sees it.
type ConnectedClient struct {
	Name, Version string // as it says; may be empty
	Folder        string // it works in; "" if that is not known
	Person        string // whose token it has, over HTTP; "" without
	Since         time.Time
}

// Clients returns the clients that have introduced themselves, those first that have been here for longest.
func (s *Server) Clients() []ConnectedClient {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]ConnectedClient, 0, len(s.sessions))
	for client := range s.sessions {
		if profile := client.profile.Load(); profile != nil && client.stateless.isListed() {
			all = append(all, ConnectedClient{profile.Name(), profile.Version(), client.origin.Folder, client.person, client.since})
		}
	}
	slices.SortFunc(all, func(a, b ConnectedClient) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Folder, b.Folder))
	})
	return all
}
