package meter

import (
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
)

// ClientTotals measures the sessions of clients that have ended, by how they talked to the workbench. Requests of the modern
// era have no session.
type ClientTotals struct {
	OverHTTP bool // instead of stdio
	Revision protocol.Revision
	Took     Histogram
}

// clientKey has few values: a session has a revision that the workbench knows.
type clientKey struct {
	overHTTP bool
	revision protocol.Revision
}

// clientSessions measures sessions, which end rarely compared with requests.
type clientSessions struct {
	mu  sync.Mutex
	all map[clientKey]*durations
}

// ClientLeft counts a session of a client that ended.
func (m *Meter) ClientLeft(overHTTP bool, revision protocol.Revision, after time.Duration) {
	if !revision.Known() {
		return
	}
	c, key := &m.clients, clientKey{overHTTP, revision}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = make(map[clientKey]*durations)
	}
	if c.all[key] == nil {
		c.all[key] = new(durations)
	}
	c.all[key].add(after, &operationBounds, nil)
}

func (c *clientSessions) read() (all []ClientTotals) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, sessions := range c.all {
		all = append(all, ClientTotals{key.overHTTP, key.revision, sessions.read(&operationBounds)})
	}
	return all
}
