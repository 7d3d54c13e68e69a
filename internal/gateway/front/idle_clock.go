package front

import (
	"sync"
	"time"
)

// idleClock measures how long nothing has been in progress for a client.
type idleClock struct {
	mu      sync.Mutex
	holders int
	left    time.Time // when the last one released it
}

// hold stops the clock until release.
func (c *idleClock) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holders++
}

func (c *idleClock) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holders--; c.holders == 0 {
		c.left = time.Now()
	}
}

// whenIdle calls a function if the client has been idle for longer than the limit. The clock is not
// held before it returns.
func (c *idleClock) whenIdle(limit time.Duration, do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holders == 0 && time.Since(c.left) > limit {
		do()
	}
}

// idleFor returns how long the client has been idle, if it is.
func (c *idleClock) idleFor() (idle time.Duration, isIdle bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.left), c.holders == 0
}
