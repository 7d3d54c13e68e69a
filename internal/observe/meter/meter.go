// Package meter counts the requests to servers and measures how long they take, per server and tool: over the last
// minutes for people, and since the start for what collects metrics. Its memory is bounded, and counting neither
// allocates nor reads a clock.
package meter

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
)

// Window is the time that Recent covers. The oldest part of it ends in steps of slotTime.
const (
	Window   = slots * slotTime
	slots    = 10
	slotTime = 30 * time.Second // time that one slot covers
)

// maxRows limits the tools and methods of one server that are counted apart; all others share a row.
const maxRows = 128

// key names what a request is about.
type key struct {
	toolbox, server string
	method          string // "" for requests that share a row
	tool            string // "" for methods other than tools/call
}

// result is how a request ended.
type result uint8

const (
	succeeded result = iota
	failed           // with an error, or without an answer
	refused          // before it was sent: it counts as an error, and has no duration
	cancelled        // by the client: it counts as a call, and not as an error
	results
)

// Meter counts requests.
type Meter struct {
	start time.Time

	mu      sync.Mutex
	servers map[serverKey]map[rowKey]*row
	last    *row // that was counted last: nearly always the next one, too
	lastKey key

	totals     atomic.Pointer[map[serverKey]*totals] // replaced with mu held, never changed
	tools      int                                   // that are counted apart; guarded by mu
	errorCodes map[string]bool                       // that are counted apart; guarded by mu

	clients clientSessions
}

type serverKey struct{ toolbox, server string }

type rowKey struct{ method, tool string }

// row counts the requests of one tool or method.
type row struct {
	total  [results]uint64
	took   time.Duration // of all requests that have a duration
	recent [slots]slot   // a ring by slot number
}

// slot counts the requests that ended in one slotTime.
type slot struct {
	number        int64 // slots since the start of the meter
	calls, errors uint32
	durations     histogram
}

// New makes a meter; now is the time of its start.
func New(now time.Time) *Meter {
	m := &Meter{start: now, servers: make(map[serverKey]map[rowKey]*row), errorCodes: make(map[string]bool)}
	m.totals.Store(&map[serverKey]*totals{})
	return m
}

// count counts a request that ended at a time, and how long it took.
func (m *Meter) count(key key, result result, ended time.Time, took time.Duration) {
	number := m.slotAt(ended)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last == nil || m.lastKey != key {
		m.last, m.lastKey = m.row(key), key
	}
	row := m.last
	row.total[result]++
	slot := &row.recent[number%slots]
	if slot.number < number {
		clear(slot.durations[:])
		slot.number, slot.calls, slot.errors = number, 0, 0
	}
	slot.calls++
	if result == failed || result == refused {
		slot.errors++
	}
	if result != refused {
		row.took += took
		slot.durations[bucketOf(took)]++
	}
}

func (m *Meter) slotAt(t time.Time) int64 { return int64(max(t.Sub(m.start), 0) / slotTime) }

// row returns the row of a key, or the one for all others if there are too many.
func (m *Meter) row(key key) *row {
	rows := m.servers[serverKey{key.toolbox, key.server}]
	if found := rows[rowKey{key.method, key.tool}]; found != nil {
		return found
	}
	if rows == nil {
		rows = make(map[rowKey]*row)
		m.servers[serverKey{strings.Clone(key.toolbox), strings.Clone(key.server)}] = rows
	}
	name := rowKey{strings.Clone(key.method), strings.Clone(key.tool)}
	if len(rows) >= maxRows {
		name = rowKey{}
		if key.method == protocol.MethodToolsCall {
			name.method = protocol.MethodToolsCall // calls stay calls
		}
		if rows[name] != nil {
			return rows[name]
		}
	}
	rows[name] = new(row)
	return rows[name]
}

// Retain forgets the servers that are not to be kept.
func (m *Meter) Retain(keep func(toolbox, server string) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.servers {
		if !keep(key.toolbox, key.server) {
			delete(m.servers, key)
			m.last = nil
		}
	}
	m.retainTotals(keep)
}

// Counts cover the last Window; the totals are since the start. Half of the requests took P50 or less, 95 % P95 or less.
type Counts struct {
	Calls        int     `json:"calls"`
	Errors       int     `json:"errors"`
	P50          float64 `json:"p50Seconds"`
	P95          float64 `json:"p95Seconds"`
	TotalCalls   int     `json:"totalCalls"`
	TotalErrors  int     `json:"totalErrors"`
	TotalSeconds float64 `json:"totalSeconds"` // that all requests took together
}

// Requests counts the calls of one tool, or the requests of another method.
type Requests struct {
	Method string `json:"method"`         // "" for requests that share a row
	Tool   string `json:"tool,omitempty"` // "" for methods other than tools/call
	Counts
}

// Server counts the calls of all tools of a server, and the requests of each tool and method.
type Server struct {
	Toolbox string `json:"toolbox"`
	Server  string `json:"server"`
	Counts
	Requests []Requests `json:"requests"`
}

// Ref returns the server's name with its toolbox.
func (s Server) Ref() string { return s.Toolbox + "/" + s.Server }

// Read returns what was counted for a server until now.
func (m *Meter) Read(toolbox, server string, now time.Time) Server {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := Server{Toolbox: toolbox, Server: server}
	var durations histogram
	var requests []*Requests
	for key, row := range m.servers[serverKey{toolbox, server}] {
		var ofCalls *histogram
		if key.method == protocol.MethodToolsCall {
			ofCalls = &durations
		}
		counts := row.read(m.slotAt(now), ofCalls)
		requests = append(requests, &Requests{key.method, key.tool, counts})
		if ofCalls == nil {
			continue
		}
		all.add(counts)
	}
	all.P50, all.P95 = durations.quantile(0.5).Seconds(), durations.quantile(0.95).Seconds()
	slices.SortFunc(requests, func(a, b *Requests) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), strings.Compare(a.Method, b.Method), strings.Compare(a.Tool, b.Tool))
	})
	for _, one := range requests {
		all.Requests = append(all.Requests, *one)
	}
	return all
}

// rank puts tools before other methods, and requests that share a row last.
func (r *Requests) rank() int {
	switch {
	case r.Tool != "":
		return 0
	case r.Method != "":
		return 1
	}
	return 2
}

// read sums a row up, and adds its recent durations to others unless that is nil.
func (r *row) read(current int64, to *histogram) (counts Counts) {
	for _, n := range r.total {
		counts.TotalCalls += int(n)
	}
	counts.TotalErrors = int(r.total[failed] + r.total[refused])
	counts.TotalSeconds = r.took.Seconds()
	var durations histogram
	for i := range r.recent {
		if slot := &r.recent[i]; slot.number > current-slots {
			counts.Calls += int(slot.calls)
			counts.Errors += int(slot.errors)
			durations.add(&slot.durations)
		}
	}
	if to != nil {
		to.add(&durations)
	}
	counts.P50, counts.P95 = durations.quantile(0.5).Seconds(), durations.quantile(0.95).Seconds()
	return counts
}
