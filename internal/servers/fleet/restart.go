package fleet

import "context"

// Restart ends the server, with its calls, and starts it again; a backoff is over. It
// returns when the server is ready, or why it is not. Of a server with several sessions,
// all that were up are restarted.
func (s *Server) Restart(ctx context.Context) error {
	s.variants.gone.Store(nil)
	var again []*Server
	for _, session := range s.allVariants() {
		session.forgetSecrets()
		if session.stopNow() {
			again = append(again, session)
		}
	}
	if len(again) == 0 {
		again = append(again, s)
	}
	for _, session := range again {
		lease, err := session.Lease(ctx)
		if err != nil {
			return err
		}
		lease.Release()
	}
	return nil
}

// stopNow takes the instance out of use that is running, if there is one, and forgets
// failures.
func (s *Server) stopNow() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure, s.failures, s.login = nil, 0, nil
	in := s.running
	if in == nil {
		return false
	}
	s.retire(in)
	signal(in.ordered)
	return true
}
