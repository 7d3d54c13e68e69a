package meter

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
)

// Snapshot is everything that is counted since the start of the workbench.
type Snapshot struct {
	Since   time.Time
	Servers []*Totals
	Clients []ClientTotals
}

// Totals are all counters of one server since the start of the workbench, for what collects metrics. Their labels are
// bounded: see maxTools and maxErrorCodes.
type Totals struct {
	Toolbox, Server    string
	InFlight           int       // requests under way
	Overhead           Histogram // the time that the workbench took itself, of requests that were sent
	Starts             uint64    // that succeeded
	FailedStarts       uint64
	StartTime          Histogram // of starts that succeeded
	Crashes            uint64    // of a server that was ready
	Sessions           Histogram // how long the server was ready, until the workbench ended it
	BrokenOff          Histogram // the same, until the server ended by itself
	DefinitionsChanged uint64    // tools and instructions
	Methods            []MethodTotals
	Tools              []ToolTotals
	Errors             []ErrorTotals
}

// MethodTotals counts and measures the requests of one method; Method is Other for unknown ones.
type MethodTotals struct {
	Method   string
	Outcomes Outcomes
	Took     Histogram // of requests that were sent, as clients see it
	AtServer Histogram // the part of it that the server took
}

// ToolTotals counts the calls of one tool; Tool is Other for those beyond the limit.
type ToolTotals struct {
	Tool     string
	Outcomes Outcomes
}

// ErrorTotals counts the errors of one type; see call.End.
type ErrorTotals struct {
	Type  string
	Count uint64
}

// Outcomes are numbers of requests by the way in which they ended.
type Outcomes [statuses]uint64

// Of returns how many requests ended in a way.
func (o *Outcomes) Of(status call.Status) uint64 { return o[status] }

// Snapshot returns all counters, the servers sorted by their names. Counters may differ by requests that end meanwhile.
func (m *Meter) Snapshot() Snapshot {
	all := Snapshot{Since: m.start}
	for key, t := range *m.totals.Load() {
		all.Servers = append(all.Servers, t.read(key))
	}
	slices.SortFunc(all.Servers, func(a, b *Totals) int {
		return cmp.Or(cmp.Compare(a.Toolbox, b.Toolbox), cmp.Compare(a.Server, b.Server))
	})
	all.Clients = m.clients.read()
	return all
}

func (t *totals) read(key serverKey) *Totals {
	read := &Totals{
		Toolbox: key.toolbox, Server: key.server, InFlight: int(max(t.inFlight.Load(), 0)), Overhead: t.overhead.read(&overheadBounds),
		Starts: t.starts.Load(), FailedStarts: t.startErrors.Load(), StartTime: t.startTime.read(&operationBounds),
		Sessions: t.sessions.read(&operationBounds), BrokenOff: t.brokenOff.read(&operationBounds),
		Crashes: t.crashes.Load(), DefinitionsChanged: t.changes.Load(),
	}
	t.methods.each(func(name string, o *operation) {
		read.Methods = append(read.Methods, MethodTotals{name, o.read(), o.took.read(&operationBounds), o.atServer.read(&operationBounds)})
	})
	t.tools.each(func(name string, o *outcomes) { read.Tools = append(read.Tools, ToolTotals{name, o.read()}) })
	t.errors.each(func(name string, count *atomic.Uint64) {
		read.Errors = append(read.Errors, ErrorTotals{name, count.Load()})
	})
	return read
}

func (o *outcomes) read() (read Outcomes) {
	for i := range o {
		read[i] = o[i].Load()
	}
	return read
}

// ToolsBy returns the outcomes of calls by names that are made of those of the tools. Tools of the same name are counted
// together.
func (t *Totals) ToolsBy(name func(tool string) string) map[string]Outcomes {
	all := make(map[string]Outcomes, len(t.Tools))
	for i := range t.Tools {
		key := name(t.Tools[i].Tool)
		sum := all[key]
		for status, count := range t.Tools[i].Outcomes {
			sum[status] += count
		}
		all[key] = sum
	}
	return all
}
