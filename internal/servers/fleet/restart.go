package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// restartsAtOnce is how many sessions with one server are started again at a time.
const restartsAtOnce = 8

// Restart ends the server, with its calls, and starts it again; a backoff is over. It
// returns when the server is ready, or why it is not. Of a server with several sessions,
// all that were up are restarted, except those whose clients have left since.
func (s *Server) Restart(ctx context.Context) error {
	s.variants.gone.Store(nil)
	var again []*Server
	isOfPersons := false // theirs start with their next calls
	for _, session := range s.allVariants() {
		isOfPersons = isOfPersons || session.person != ""
		session.forgetSecrets()
		if session.stopNow() {
			again = append(again, session)
		}
	}
	if len(again) == 0 && !isOfPersons {
		again = append(again, s)
	}
	failures := make([]error, len(again))
	places := make(chan struct{}, restartsAtOnce)
	var starting sync.WaitGroup
	for i, session := range again {
		places <- struct{}{}
		starting.Go(func() {
			defer func() { <-places }()
			failures[i] = session.startAgain(ctx)
		})
	}
	starting.Wait()
	return firstFailure(failures)
}

// startAgain starts a session that was stopped.
func (s *Server) startAgain(ctx context.Context) error {
	lease, err := s.Lease(ctx)
	if err != nil {
		if errors.Is(err, errDeserted) {
			return nil
		}
		return err
	}
	lease.Release()
	return nil
}

// firstFailure returns why the first of several sessions is not ready; nil if all are.
func firstFailure(failures []error) error {
	var first error
	count := 0
	for _, err := range failures {
		if err == nil {
			continue
		}
		if count++; first == nil {
			first = err
		}
	}
	if len(failures) == 1 || count == 0 {
		return first
	}
	return fmt.Errorf("%d of %d instances did not start again, the first because: %w", count, len(failures), first)
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
