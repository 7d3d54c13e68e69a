package meter

import (
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
)

// CallBegan implements call.Observer.
func (m *Meter) CallBegan(c *call.Call, _ time.Time) {
	m.serverTotals(c.Server.Toolbox(), c.Server.Name()).inFlight.Add(1)
}

// CallEnded implements call.Observer. Names invented by a client are not counted separately.
func (m *Meter) CallEnded(c *call.Call, end call.End) {
	totals := m.serverTotals(c.Server.Toolbox(), c.Server.Name())
	totals.inFlight.Add(-1)
	about := key{toolbox: c.Server.Toolbox(), server: c.Server.Name(), method: protocol.FindMethod(c.Method).Name}
	if !c.Tool.IsAbsent() {
		about.tool = c.Name
	}
	m.countTotals(totals, about, &end, traceOf(c, &end))
	as := failed
	switch end.Status {
	case call.StatusInputRequired:
		return // people see it as one call, which goes on when the client has sent the input
	case call.StatusOK:
		as = succeeded
	case call.StatusRefused:
		as = refused
	case call.StatusCancelled:
		as = cancelled
	}
	m.count(about, as, end.Began.Add(end.Took), end.Took)
}

// traceOf returns the trace of a request that ended; nil unless it is recorded.
func traceOf(c *call.Call, end *call.End) *trace {
	if c.Trace == nil {
		return nil
	}
	return &trace{c.Trace.ID, end.Began.Add(end.Took)}
}
