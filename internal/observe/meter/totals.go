package meter

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

const (
	maxTools = 2000 // tools whose calls are counted apart, of all servers; those of others count for Other
	// maxErrorCodes is how many codes of JSON-RPC errors are counted apart, of all servers; others count as Other. With the words
	// of the workbench, which always are, there are 40 types of errors: a server that invents codes does not hide them.
	maxErrorCodes = 29
)

// Other stands for what has no counter of its own.
const Other = "_other"

// statuses is the number of ways in which a request ends; see call.Status.
const statuses = int(call.StatusInputRequired) + 1

// totals are the counters of one server since the start. Counting takes no lock; the maps are replaced, never changed.
type totals struct {
	inFlight    atomic.Int64
	overhead    durations
	starts      atomic.Uint64
	startErrors atomic.Uint64
	startTime   durations
	crashes     atomic.Uint64
	sessions    durations     // with the server, that the workbench ended
	brokenOff   durations     // with the server, that it ended by itself
	changes     atomic.Uint64 // of definitions
	methods     table[operation]
	tools       table[outcomes]
	errors      table[atomic.Uint64] // by type
}

// operation measures the requests of one method.
type operation struct {
	outcomes
	took     durations // as the client sees it
	atServer durations
}

// outcomes counts requests by how they ended.
type outcomes [statuses]atomic.Uint64

// table is a map from names to counters that is read without a lock.
type table[T any] struct{ all atomic.Pointer[map[string]*T] }

func (t *table[T]) find(name string) *T {
	if all := t.all.Load(); all != nil {
		return (*all)[name]
	}
	return nil
}

// add returns the counter of a name, which it adds if needed. The caller holds the lock of the meter.
func (t *table[T]) add(name string) *T {
	if found := t.find(name); found != nil {
		return found
	}
	next := map[string]*T{}
	if all := t.all.Load(); all != nil {
		next = maps.Clone(*all)
	}
	added := new(T)
	next[strings.Clone(name)] = added
	t.all.Store(&next)
	return added
}

// each calls with every counter, sorted by name.
func (t *table[T]) each(visit func(name string, counter *T)) {
	all := t.all.Load()
	if all == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(*all)) {
		visit(name, (*all)[name])
	}
}

// serverTotals returns the counters of a server, and makes them if needed.
func (m *Meter) serverTotals(toolbox, server string) *totals {
	key := serverKey{toolbox, server}
	if found := (*m.totals.Load())[key]; found != nil {
		return found
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	before := *m.totals.Load()
	if found := before[key]; found != nil {
		return found
	}
	next := maps.Clone(before)
	added := new(totals)
	next[serverKey{strings.Clone(toolbox), strings.Clone(server)}] = added
	m.totals.Store(&next)
	return added
}

// retainTotals forgets the servers that are not to be kept, unless calls are in flight. The caller holds mu.
func (m *Meter) retainTotals(keep func(toolbox, server string) bool) {
	next := maps.Clone(*m.totals.Load())
	maps.DeleteFunc(next, func(key serverKey, t *totals) bool {
		if keep(key.toolbox, key.server) || t.inFlight.Load() > 0 {
			return false
		}
		t.tools.each(func(name string, _ *outcomes) {
			if name != Other {
				m.tools--
			}
		})
		return true
	})
	m.totals.Store(&next)
}

// method returns the counters of a method. There are few: unknown ones have none of their own.
func (m *Meter) method(t *totals, name string) *operation {
	if name == "" {
		name = Other
	}
	if found := t.methods.find(name); found != nil {
		return found
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return t.methods.add(name)
}

func (m *Meter) tool(t *totals, name string) *outcomes {
	if found := t.tools.find(name); found != nil {
		return found
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if name != Other && t.tools.find(name) == nil {
		if m.tools >= maxTools {
			return t.tools.add(Other)
		}
		m.tools++
	}
	return t.tools.add(name)
}

func (m *Meter) errorType(t *totals, name string) *atomic.Uint64 {
	if found := t.errors.find(name); found != nil {
		return found
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if isCode(name) && !m.errorCodes[name] {
		if len(m.errorCodes) >= maxErrorCodes {
			return t.errors.add(Other)
		}
		m.errorCodes[strings.Clone(name)] = true
	}
	return t.errors.add(name)
}

// isCode reports whether a type of errors is a code, which a server chose, and not one of the few words; see call.End.
func isCode(errorType string) bool {
	_, err := strconv.Atoi(errorType)
	return err == nil
}

// countTotals counts a request that ended.
func (m *Meter) countTotals(t *totals, about key, end *call.End, traced *trace) {
	operation := m.method(t, about.method)
	operation.outcomes[end.Status].Add(1)
	if about.method == protocol.MethodToolsCall { // a tool that is not known has no name of its own: the client may have made it up
		m.tool(t, cmp.Or(about.tool, Other))[end.Status].Add(1)
	}
	if end.ErrorType != "" {
		m.errorType(t, end.ErrorType).Add(1)
	}
	if end.Sent.IsZero() {
		return
	}
	operation.took.add(end.Took, &operationBounds, traced)
	operation.atServer.add(end.Server, &operationBounds, traced)
	t.overhead.add(end.Workbench(), &overheadBounds, traced)
}

// ServerStarted implements fleet.Events.
func (m *Meter) ServerStarted(toolbox, server string, took time.Duration, err error) {
	t := m.serverTotals(toolbox, server)
	if err != nil {
		t.startErrors.Add(1)
		return
	}
	t.starts.Add(1)
	t.startTime.add(took, &operationBounds, nil)
}

// ServerCrashed implements fleet.Events.
func (m *Meter) ServerCrashed(toolbox, server string) { m.serverTotals(toolbox, server).crashes.Add(1) }

// ServerEnded implements fleet.Events.
func (m *Meter) ServerEnded(toolbox, server string, after time.Duration, crashed bool) {
	t := m.serverTotals(toolbox, server)
	if crashed {
		t.brokenOff.add(after, &operationBounds, nil)
		return
	}
	t.sessions.add(after, &operationBounds, nil)
}

// DefinitionsChanged implements fleet.Events.
func (m *Meter) DefinitionsChanged(toolbox, server string, changes []catalog.Change) {
	m.serverTotals(toolbox, server).changes.Add(uint64(len(changes)))
}
