package meter

import (
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
)

// bounds are the upper bounds of the buckets of a histogram; the last bucket has none.
type bounds [14]time.Duration

// operationBounds are those of the MCP conventions of OpenTelemetry.
var operationBounds = bounds{
	10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
}

// overheadBounds are for the time that the workbench takes itself.
var overheadBounds = bounds{
	10 * time.Microsecond, 20 * time.Microsecond, 50 * time.Microsecond, 100 * time.Microsecond, 200 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, time.Second,
}

// durations is a histogram with fixed bounds that is counted without a lock.
type durations struct {
	counts [len(bounds{}) + 1]atomic.Uint64
	sum    atomic.Int64 // in nanoseconds
	traced [len(bounds{}) + 1]atomic.Pointer[Exemplar]
}

// add counts a duration. If its request was traced, it becomes the exemplar of its bucket.
func (d *durations) add(took time.Duration, within *bounds, trace *trace) {
	took = max(took, 0)
	at := len(within)
	for i, bound := range within {
		if took <= bound {
			at = i
			break
		}
	}
	d.counts[at].Add(1)
	d.sum.Add(int64(took))
	if trace != nil {
		d.traced[at].Store(&Exemplar{Trace: trace.id, Seconds: took.Seconds(), Time: trace.ended})
	}
}

// trace is the trace of a request that is recorded.
type trace struct {
	id    tracecontext.TraceID
	ended time.Time
}

// Exemplar is the last request in a bucket of a histogram that was traced.
type Exemplar struct {
	Trace   tracecontext.TraceID
	Seconds float64
	Time    time.Time // when it ended
}

// Histogram counts durations: Counts has those up to each bound and above the one before, and at the end those above all.
type Histogram struct {
	Bounds []float64 // in seconds
	Counts []uint64  // one more than Bounds
	Count  uint64    // of all
	Sum    float64   // in seconds
	// Exemplars has one traced request for each of Counts, or nil.
	Exemplars []*Exemplar
}

func (d *durations) read(within *bounds) Histogram {
	h := Histogram{
		Bounds: make([]float64, len(within)), Counts: make([]uint64, len(d.counts)), Sum: time.Duration(d.sum.Load()).Seconds(),
		Exemplars: make([]*Exemplar, len(d.traced)),
	}
	for i, bound := range within {
		h.Bounds[i] = bound.Seconds()
	}
	for i := range d.counts {
		h.Counts[i] = d.counts[i].Load()
		h.Count += h.Counts[i]
		h.Exemplars[i] = d.traced[i].Load()
	}
	return h
}
