package front

import (
	"fmt"
	"testing"
	"testing/synctest"
)

// unending is a request that is never answered.
type unending struct{}

func (unending) cancel(error) {}

// filled returns a session with as many requests in flight as there may be.
func filled(t *testing.T) *session {
	t.Helper()
	s := newSession(newServer(Options{}), Audience{})
	for i := range maxInFlight {
		if admitted, _ := s.admit(fmt.Sprint(i), nil, unending{}); !admitted {
			t.Fatalf("request %d was not admitted", i)
		}
	}
	return s
}

// admitLater admits one more request in the background.
func admitLater(s *session) <-chan bool {
	verdict := make(chan bool, 1)
	go func() {
		admitted, _ := s.admit("one more", nil, unending{})
		verdict <- admitted
	}()
	synctest.Wait()
	return verdict
}

func TestRequestsWaitWhileTooManyAreInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := filled(t)
		verdict := admitLater(s)
		if len(verdict) > 0 {
			t.Fatal("it did not wait")
		}
		s.forget("7")
		synctest.Wait()
		if len(verdict) == 0 || !<-verdict {
			t.Error("it was not admitted when there was room")
		}
	})
}

func TestRequestsThatWaitEndWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := filled(t)
		verdict := admitLater(s)
		s.mu.Lock()
		s.ending = true
		s.mu.Unlock()
		s.giveUp()
		synctest.Wait()
		if len(verdict) == 0 || <-verdict {
			t.Error("it still waits, or was admitted")
		}
	})
}
