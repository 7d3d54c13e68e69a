package front

import (
	"sync"
	"time"
)

// presence knows whether anything of a client is under way, and since when nothing is.
type presence struct {
	mu       sync.Mutex
	underWay int
	left     time.Time // when the last ended
}

// enter notes what begins; leave it when it has ended.
func (p *presence) enter() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.underWay++
}

func (p *presence) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.underWay--; p.underWay == 0 {
		p.left = time.Now()
	}
}

// whenIdle calls a function if nothing has been under way for longer than the limit. Nothing
// begins before it returns.
func (p *presence) whenIdle(limit time.Duration, do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.underWay == 0 && time.Since(p.left) > limit {
		do()
	}
}

// idleFor returns for how long nothing has been under way, if nothing is.
func (p *presence) idleFor() (idle time.Duration, isIdle bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Since(p.left), p.underWay == 0
}
