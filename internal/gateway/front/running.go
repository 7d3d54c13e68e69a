package front

import (
	"errors"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
)

// RunningRequest is a request of a client to a server that is in flight.
type RunningRequest struct {
	call.Running
	Client string // the name that the client gave itself; may be empty
	Caller string // as a rule of the policy names it

	request *request
}

// Running returns the requests to servers that are in flight, in no order. No request waits for it.
func (s *Server) Running() (all []RunningRequest) {
	var candidates []*request
	s.mu.Lock()
	for client := range s.sessions {
		candidates = client.requests.appendAll(candidates)
	}
	s.mu.Unlock()
	for _, r := range s.suspended.appendAll(candidates) {
		if resumed := r.suspension.resumed.Load(); resumed != nil {
			r = resumed
		}
		if running, ok := r.canceller.Running(); ok {
			profile := r.session.Profile()
			all = append(all, RunningRequest{Running: running, Client: profile.Name(), Caller: profile.Caller(), request: r})
		}
	}
	return all
}

// Cancel cancels the request with the ID for a person: at its server, too. The client gets an answer that says so. It
// returns false if no such request is in flight.
func (s *Server) Cancel(id string) bool {
	for _, running := range s.Running() {
		if running.ID() == id {
			running.request.cancel(running.Stop())
			return true
		}
	}
	return false
}

// appendAll appends the requests in flight.
func (t *requestTable) appendAll(to []*request) []*request {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.byKey {
		to = append(to, r)
	}
	return to
}

// appendAll appends the requests that wait for their clients to come back.
func (s *suspendedCalls) appendAll(to []*request) []*request {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.waiting {
		to = append(to, r)
	}
	return to
}

func isStopped(cause error) bool {
	_, ok := errors.AsType[*call.Stopped](cause)
	return ok
}

// cancelledText is for questions of a server about a request that was cancelled.
func cancelledText(cause error) string {
	if isStopped(cause) {
		return "A person cancelled the call"
	}
	return "The client cancelled the call"
}
