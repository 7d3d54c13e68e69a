package meter

import (
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
)

// Mark is a state of what is counted for a server, to notice that it has changed.
type Mark struct {
	calls uint64
	slot  int64 // the last one, while calls of recent ones are left; otherwise 0
}

// ReadChanged returns what is counted of the calls of all tools of a server, unless it is what it was at a mark, which is
// moved. It is cheap if nothing has changed.
func (m *Meter) ReadChanged(toolbox, server string, now time.Time, since *Mark) (counts Counts, changed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rows, current := m.servers[serverKey{toolbox, server}], m.slotAt(now)
	next := Mark{}
	for key, row := range rows {
		if key.method != protocol.MethodToolsCall {
			continue
		}
		for _, n := range row.total {
			next.calls += n
		}
		for i := range row.recent {
			if slot := &row.recent[i]; slot.number > current-slots && slot.calls > 0 {
				next.slot = current
			}
		}
	}
	if next == *since {
		return Counts{}, false
	}
	*since = next
	var durations histogram
	for key, row := range rows {
		if key.method == protocol.MethodToolsCall {
			counts.add(row.read(current, &durations))
		}
	}
	counts.P50, counts.P95 = durations.quantile(0.5).Seconds(), durations.quantile(0.95).Seconds()
	return counts, true
}

// add adds the counts of other requests, except for how long they took at least.
func (c *Counts) add(other Counts) {
	c.Calls += other.Calls
	c.Errors += other.Errors
	c.TotalCalls += other.TotalCalls
	c.TotalErrors += other.TotalErrors
	c.TotalSeconds += other.TotalSeconds
}
