package front

import (
	"sync"
	"time"
)

// idleClock knows whether anything of a client is under way, and since when nothing is.
type idleClock struct {
	mu       sync.Mutex
	underWay int
	left     time.Time // when the last ended
}

// hold notes what begins; leave it when it has ended.
func (p *idleClock) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.underWay++
}

func (p *idleClock) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.underWay--; p.underWay == 0 {
		p.left = time.Now()
	}
}

// whenIdle calls a function if nothing has been under way for longer than the limit. Nothing
// begins before it returns.
func (p *idleClock) whenIdle(limit time.Duration, do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.underWay == 0 && time.Since(p.left) > limit {
		do()
	}
}

// idleFor returns for how long nothing has been under way, if nothing is.
func (p *idleClock) idleFor() (idle time.Duration, isIdle bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Since(p.left), p.underWay == 0
}
