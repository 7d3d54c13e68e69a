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
func (c *idleClock) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.underWay++
}

func (c *idleClock) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.underWay--; c.underWay == 0 {
		c.left = time.Now()
	}
}

// whenIdle calls a function if nothing has been under way for longer than the limit. Nothing
// begins before it returns.
func (c *idleClock) whenIdle(limit time.Duration, do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.underWay == 0 && time.Since(c.left) > limit {
		do()
	}
}

// idleFor returns for how long nothing has been under way, if nothing is.
func (c *idleClock) idleFor() (idle time.Duration, isIdle bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.left), c.underWay == 0
}
