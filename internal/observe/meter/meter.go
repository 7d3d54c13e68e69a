// Package meter counts the requests to servers and measures how long they take, per server and tool: over the last
// minutes, and since the start. Its memory is bounded, and counting neither allocates nor reads a clock.
package meter

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Window is the time that Recent covers. The oldest part of it ends in steps of slotTime.
const (
	Window   = slots * slotTime
	slots    = 10
	slotTime = 30 * time.Second // that one slot of the last minutes covers
)

// maxRows limits the tools and methods of one server that are counted apart; all others share a row.
const maxRows = 128

// Key names what a request is about.
type Key struct {
	Toolbox, Server string
	Method          string // "" for requests that share a row
	Tool            string // "" for methods other than tools/call
}

// Result is how a request ended.
type Result uint8

// How a request ended.
const (
	OK        Result = iota
	Failed           // with an error, or without an answer
	Refused          // before it was sent: it counts as an error, and has no duration
	Cancelled        // by the client: it counts as a call, and not as an error
	results
)

// Meter counts requests.
type Meter struct {
	start time.Time

	mu      sync.Mutex
	servers map[serverKey]map[rowKey]*row
	last    *row // that was counted last: nearly always the next one, too
	lastKey Key
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
	return &Meter{start: now, servers: make(map[serverKey]map[rowKey]*row)}
}

// Count counts a request that ended at a time, and how long it took.
func (m *Meter) Count(key Key, result Result, ended time.Time, took time.Duration) {
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
	if result == Failed || result == Refused {
		slot.errors++
	}
	if result != Refused {
		row.took += took
		slot.durations[bucketOf(took)]++
	}
}

func (m *Meter) slotAt(t time.Time) int64 { return int64(max(t.Sub(m.start), 0) / slotTime) }

// row returns the row of a key, or the one for all others if there are too many.
func (m *Meter) row(key Key) *row {
	rows := m.servers[serverKey{key.Toolbox, key.Server}]
	if found := rows[rowKey{key.Method, key.Tool}]; found != nil {
		return found
	}
	if rows == nil {
		rows = make(map[rowKey]*row)
		m.servers[serverKey{strings.Clone(key.Toolbox), strings.Clone(key.Server)}] = rows
	}
	name := rowKey{strings.Clone(key.Method), strings.Clone(key.Tool)}
	if len(rows) >= maxRows {
		if name = (rowKey{}); rows[name] != nil {
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
}

// Stats are what was counted.
type Stats struct {
	// Calls and Errors are those of the last Window; half of the requests took P50 or less, 95 % P95 or less.
	Calls, Errors int
	P50, P95      time.Duration
	// The others are since the start; Took is the sum of all durations.
	TotalCalls, TotalErrors int
	Took                    time.Duration
}

// Row is the statistics of one tool or method.
type Row struct {
	Key
	Stats
}

// Server is the statistics of one server: of all requests, of each tool, and of each other method.
type Server struct {
	Stats
	Rows []Row
}

// Read returns what was counted for a server until now.
func (m *Meter) Read(toolbox, server string, now time.Time) Server {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all Server
	var durations histogram
	for key, row := range m.servers[serverKey{toolbox, server}] {
		stats := row.read(m.slotAt(now), &durations)
		all.Rows = append(all.Rows, Row{Key{toolbox, server, key.method, key.tool}, stats})
		all.Calls += stats.Calls
		all.Errors += stats.Errors
		all.TotalCalls += stats.TotalCalls
		all.TotalErrors += stats.TotalErrors
		all.Took += stats.Took
	}
	all.P50, all.P95 = durations.quantile(0.5), durations.quantile(0.95)
	slices.SortFunc(all.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), strings.Compare(a.Method, b.Method), strings.Compare(a.Tool, b.Tool))
	})
	return all
}

// rank puts tools before other methods, and requests that share a row last.
func (k Key) rank() int {
	switch {
	case k.Tool != "":
		return 0
	case k.Method != "":
		return 1
	}
	return 2
}

// read sums a row up, and adds its recent durations to others.
func (r *row) read(current int64, to *histogram) (stats Stats) {
	for _, n := range r.total {
		stats.TotalCalls += int(n)
	}
	stats.TotalErrors = int(r.total[Failed] + r.total[Refused])
	stats.Took = r.took
	var durations histogram
	for i := range r.recent {
		if slot := &r.recent[i]; slot.number > current-slots {
			stats.Calls += int(slot.calls)
			stats.Errors += int(slot.errors)
			durations.add(&slot.durations)
		}
	}
	to.add(&durations)
	stats.P50, stats.P95 = durations.quantile(0.5), durations.quantile(0.95)
	return stats
}
