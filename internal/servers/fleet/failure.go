package fleet

import (
	"fmt"
	"time"
)

// failure is why a server is not available, and when the next start may be tried.
type failure struct {
	err   error
	of    *instance // the one that crashed; nil if the start failed
	since time.Time
	until time.Time
}

// Backoff doubles from the first delay to the last.
const (
	firstDelay = 500 * time.Millisecond // after the first failed start; it doubles
	lastDelay  = 10 * time.Second       // the longest pause between two starts
	// steadyAfter is how long a server has to be up until its failures are reset.
	steadyAfter = 10 * time.Second
)

// BackoffError is the last failure of a server that is not started again yet.
type BackoffError struct {
	Err   error
	Since time.Time // of the first failure in a row
	Wait  time.Duration
}

func (e *BackoffError) Error() string {
	return fmt.Sprintf("%v (failing since %s, next try in %s)",
		e.Err, e.Since.Format(time.TimeOnly), max(e.Wait.Round(100*time.Millisecond), 100*time.Millisecond))
}

// Unwrap returns the failure.
func (e *BackoffError) Unwrap() error { return e.Err }

// failed records a failure; exponent says how long to back off. Called with mu held.
func (s *Server) failed(err error, exponent int) {
	now := time.Now()
	s.failures++
	since := now
	if s.failure != nil {
		since = s.failure.since
	}
	s.failure = &failure{err: err, since: since, until: now.Add(delay(exponent))}
}

func delay(exponent int) time.Duration {
	return min(firstDelay<<min(max(exponent, 0), 10), lastDelay)
}

// crashed records that a ready server has ended. There is no backoff after the first crash: the next use starts it again
// at once. Called with mu held.
func (s *Server) crashed(in *instance, reason error) {
	if s.running != in { // recorded already, perhaps with a less precise reason
		if s.failure != nil && s.failure.of == in {
			s.failure.err = reason
		}
		return
	}
	if events := s.fleet.options.Events; events != nil {
		events.ServerCrashed(s.toolbox, s.Name())
	}
	in.crashed = true
	s.retire(in)
	s.failed(reason, s.failures-1)
	s.failure.of = in
	if s.failures == 1 {
		s.failure.until = time.Time{}
	}
}
