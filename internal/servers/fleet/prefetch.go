package fleet

import (
	"context"
	"sync"
	"time"
)

const (
	// prefetchDelay lets a client that has just come have its first answers.
	prefetchDelay = time.Second
	// prefetchers is how many servers are asked at a time.
	prefetchers = 4
)

// Prefetch starts those servers of the toolboxes that were never seen, in the background, to
// remember what they offer, and stops them again unless they are in use by then. What a server offers each person by a
// login of their own is not known before. It does not block. Calling it again ends what the call before has not begun yet.
func (f *Fleet) Prefetch(boxes []*Toolbox) {
	round := f.prefetches.Add(1)
	f.run(func() { // false means that the fleet is being stopped
		delay := time.NewTimer(prefetchDelay)
		defer delay.Stop()
		select {
		case <-delay.C:
		case <-f.life.Done():
			return
		}
		servers := make(chan *Server)
		var working sync.WaitGroup
		for range prefetchers {
			working.Go(func() {
				for server := range servers {
					server.prefetch(f.life)
				}
			})
		}
		for _, box := range boxes {
			for _, server := range box.Servers {
				if f.life.Err() == nil && f.prefetches.Load() == round && !hasOwnAccounts(&server.config) && server.Offered() == nil {
					servers <- server
				}
			}
		}
		close(servers)
		working.Wait()
	})
}

// prefetch starts the server, which keeps what it offers, and lets it go.
func (s *Server) prefetch(ctx context.Context) {
	lease, err := s.Lease(ctx)
	if err != nil {
		return // is in the log
	}
	in := lease.instance
	lease.Release()
	signal(in.unneeded)
}

// retireUnused takes a server out of use that was started for nothing but what it offers.
func (s *Server) retireUnused(in *instance) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.leases.Load() == 0 && in.lent.Load() == 1 && s.running == in {
		s.retire(in)
		return true
	}
	return false
}
