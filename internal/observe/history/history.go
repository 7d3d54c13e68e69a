// Package history remembers the last calls of a workbench: who called what, how it ended, and where its time went. It
// keeps the shape of arguments, never a value, and writes records to files if the user asks for it.
package history

import (
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

const (
	maxRecords = 4096 // calls that are remembered; the oldest is forgotten for the next
	maxName    = 256  // bytes of a tool's or a prompt's name; a longer one is left out, since it may be anything
	maxNames   = 4096 // names that are kept for records to share; beyond it they are collected again
	maxBatch   = 200  // records that are read at once; the rest is read next
)

// History remembers the last calls. It is a stage that observes, and safe for concurrent use.
type History struct {
	pid  int
	mask func(string) string

	mu    sync.Mutex
	ring  []entry           // grows to maxRecords; the call with the number n is at (n-1) % maxRecords
	last  uint64            // number of the last call; the first is 1
	names map[string]string // so that records of the same tool share its name
	more  chan struct{}     // closed with the next call; nil if nobody waits for it
}

// entry is a record as it is remembered: nothing of it is made for the call but its shape.
type entry struct {
	began                       time.Time
	took, start, server, waited time.Duration
	requestSize, responseSize   int
	client, caller              string
	toolbox, serverName         string
	method, name                string
	errorType, shape            string
	status                      call.Status
	usage                       *fleet.Usage
	over                        *fleet.MemoryLimitError
}

// New makes an empty history. Every text of a client passes through mask before it is shown.
func New(mask func(string) string) *History {
	return &History{pid: os.Getpid(), mask: mask, names: make(map[string]string)}
}

// CallBegan implements call.Observer.
func (*History) CallBegan(*call.Call, time.Time) {}

// CallEnded implements call.Observer.
func (h *History) CallEnded(c *call.Call, end call.End) {
	profile := c.Client.Profile()
	added := entry{
		began: end.Began, took: end.Took, start: end.Start, server: end.Server, waited: end.Waited,
		requestSize: end.RequestSize, responseSize: end.ResponseSize,
		client: profile.Name(), caller: profile.Caller(),
		toolbox: c.Server.Toolbox(), serverName: c.Server.Name(), method: protocol.FindMethod(c.Method).Name,
		errorType: end.ErrorType, shape: c.Shape, status: end.Status, usage: end.Usage, over: end.Over,
	}
	h.mu.Lock()
	if added.method == protocol.MethodToolsCall || added.method == protocol.MethodPromptsGet {
		added.name = h.shared(c.Name)
	}
	if len(h.ring) < maxRecords {
		h.ring = append(h.ring, added)
	} else {
		h.ring[h.last%maxRecords] = added
	}
	h.last++
	more := h.more
	h.more = nil
	h.mu.Unlock()
	if more != nil {
		close(more)
	}
}

// shared returns a copy of a name that does not keep anything else in memory. The caller holds mu.
func (h *History) shared(name string) string {
	if len(name) > maxName {
		return tooLong
	}
	if known, ok := h.names[name]; ok {
		return known
	}
	if len(h.names) >= maxNames {
		clear(h.names)
	}
	name = strings.Clone(name)
	h.names[name] = name
	return name
}

// tooLong stands for a name that is too long.
const tooLong = "…"

// Last returns the number of the last call; 0 before the first.
func (h *History) Last() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// Read returns the calls after a number, the oldest first, at most maxBatch. Further ones come after the number next.
// The first one says how many were forgotten before they could be read. Without any, more is closed with the next call.
func (h *History) Read(after uint64) (records []Record, next uint64, more <-chan struct{}) {
	entries, first, lost, more := h.copy(after)
	if len(entries) == 0 {
		return nil, after, more
	}
	records = make([]Record, len(entries))
	for i := range entries {
		records[i] = h.record(&entries[i], first+uint64(i))
	}
	records[0].Lost = lost
	return records, first + uint64(len(entries)) - 1, nil
}

// copy returns the entries after a number, and the number of the first.
func (h *History) copy(after uint64) (entries []entry, first, lost uint64, more <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if after >= h.last {
		if h.more == nil {
			h.more = make(chan struct{})
		}
		return nil, 0, 0, h.more
	}
	first = after + 1
	if oldest := h.last - uint64(len(h.ring)) + 1; first < oldest {
		first, lost = oldest, oldest-first
	}
	entries = make([]entry, min(h.last-first+1, maxBatch))
	for i := range entries {
		entries[i] = h.ring[(first-1+uint64(i))%maxRecords]
	}
	return entries, first, lost, nil
}
