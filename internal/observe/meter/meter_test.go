package meter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

var begin = time.Unix(1_000_000, 0)

func tool(name string) key {
	return key{toolbox: "t", server: "s", method: "tools/call", tool: name}
}

func TestResultsAreCounted(t *testing.T) {
	m := New(begin)
	for _, result := range []result{succeeded, succeeded, failed, refused, cancelled} {
		m.count(tool("a"), result, begin, 10*time.Millisecond)
	}
	m.count(key{toolbox: "t", server: "s", method: "resources/read"}, succeeded, begin, time.Millisecond)
	m.count(key{toolbox: "t", server: "other", method: "resources/read"}, succeeded, begin, time.Hour)
	got := m.Read("t", "s", begin)
	if got.Calls != 5 || got.Errors != 2 || got.TotalCalls != 5 || got.TotalErrors != 2 || math.Abs(got.TotalSeconds-.04) > 1e-9 {
		t.Errorf("all: %+v", got.Counts)
	}
	if len(got.Requests) != 2 || got.Requests[0].Tool != "a" || got.Requests[0].Calls != 5 || got.Requests[0].Errors != 2 || got.Requests[1].Method != "resources/read" || got.Requests[1].Calls != 1 {
		t.Errorf("the rows are %+v", got.Requests)
	}
	if empty := m.Read("t", "unknown", begin); empty.TotalCalls != 0 || empty.Requests != nil || empty.P95 != 0 {
		t.Errorf("an unknown server: %+v", empty)
	}
}

func TestRefusedRequestsHaveNoDuration(t *testing.T) {
	m := New(begin)
	m.count(tool("a"), succeeded, begin, time.Second)
	for range 100 {
		m.count(tool("a"), refused, begin, 0)
	}
	if got := m.Read("t", "s", begin); got.P50 < .9 || got.TotalSeconds != 1 || got.Errors != 100 {
		t.Errorf("got %+v", got.Counts)
	}
}

func TestWindowMoves(t *testing.T) {
	m := New(begin)
	m.count(tool("a"), failed, begin, time.Second)
	m.count(tool("a"), succeeded, begin.Add(4*time.Minute), time.Millisecond)
	for _, test := range []struct {
		after         time.Duration
		calls, errors int
	}{
		{0, 2, 1}, {Window - time.Second, 2, 1}, {Window, 1, 0}, {Window + 3*time.Minute, 1, 0}, {2 * Window, 0, 0}, {time.Hour, 0, 0},
	} {
		got := m.Read("t", "s", begin.Add(test.after))
		if got.Calls != test.calls || got.Errors != test.errors || got.TotalCalls != 2 || got.TotalErrors != 1 {
			t.Errorf("after %s: %+v", test.after, got.Counts)
		}
		if (got.P95 == 0) != (test.calls == 0) {
			t.Errorf("after %s: p95 is %v", test.after, got.P95)
		}
	}
	m.count(tool("a"), succeeded, begin.Add(Window), time.Millisecond) // in the slot of the first one
	if got := m.Read("t", "s", begin.Add(Window)); got.Calls != 2 || got.Errors != 0 || got.P95 > .002 {
		t.Errorf("in a slot that is used again: %+v", got.Counts)
	}
	m.count(tool("a"), succeeded, begin.Add(-time.Hour), time.Millisecond) // a clock that went back
}

func TestQuantiles(t *testing.T) {
	for _, scale := range []time.Duration{50 * time.Microsecond, 3 * time.Millisecond, time.Second, 40 * time.Second} {
		m := New(begin)
		random := rand.New(rand.NewPCG(1, 2))
		all := make([]time.Duration, 10_000)
		for i := range all {
			all[i] = time.Duration(random.ExpFloat64()*float64(scale)) + 20*time.Microsecond
			m.count(tool("a"), succeeded, begin, all[i])
		}
		slices.Sort(all)
		got := m.Read("t", "s", begin)
		for _, test := range []struct{ got, want float64 }{{got.P50, all[5000].Seconds()}, {got.P95, all[9500].Seconds()}} {
			if ratio := test.got / test.want; ratio < 7/8.0 || ratio > 9/8.0 {
				t.Errorf("around %s: %v s, want %v s", scale, test.got, test.want)
			}
		}
	}
}

func TestBuckets(t *testing.T) {
	for i := 1; i < buckets; i++ {
		if at, before := bucketOf(lowerBound(i)), bucketOf(lowerBound(i)-time.Microsecond); at != i || before != i-1 {
			t.Errorf("bucket %d begins with %s, which is in %d, and %d is before it", i, lowerBound(i), at, before)
		}
	}
	for _, took := range []time.Duration{-1, 0, 15 * time.Microsecond} {
		if got := bucketOf(took); got != 0 {
			t.Errorf("%s is in bucket %d", took, got)
		}
	}
	if got := bucketOf(1000 * time.Hour); got != buckets-1 {
		t.Errorf("1000 hours are in bucket %d", got)
	}
}

func TestRowsAreLimited(t *testing.T) {
	m := New(begin)
	for i := range 3 * maxRows {
		m.count(tool(fmt.Sprint(i)), succeeded, begin, time.Millisecond)
	}
	got := m.Read("t", "s", begin)
	last := got.Requests[len(got.Requests)-1]
	if len(got.Requests) != maxRows+1 || last.Method != "tools/call" || last.Tool != "" || last.Calls != 2*maxRows || got.Calls != 3*maxRows {
		t.Errorf("there are %d rows, %d calls; the last is %+v", len(got.Requests), got.Calls, last)
	}
}

func TestServersThatLeftAreForgotten(t *testing.T) {
	m := New(begin)
	m.count(tool("a"), succeeded, begin, time.Millisecond)
	m.count(key{toolbox: "t", server: "kept", method: "tools/call"}, succeeded, begin, time.Millisecond)
	m.Retain(func(_, server string) bool { return server == "kept" })
	if left, kept := m.Read("t", "s", begin), m.Read("t", "kept", begin); left.TotalCalls != 0 || kept.TotalCalls != 1 {
		t.Errorf("left: %+v, kept: %+v", left.Counts, kept.Counts)
	}
	m.Retain(func(string, string) bool { return false })
	m.count(key{toolbox: "t", server: "kept", method: "tools/call"}, succeeded, begin, time.Millisecond)
	if back := m.Read("t", "kept", begin); back.TotalCalls != 1 {
		t.Errorf("back: %+v", back.Counts)
	}
}

func TestCountingAllocatesNothing(t *testing.T) {
	m, now := New(begin), begin
	m.count(tool("a"), succeeded, now, time.Millisecond)
	if found := testing.AllocsPerRun(1000, func() {
		now = now.Add(time.Second)
		m.count(tool("a"), succeeded, now, time.Millisecond)
	}); found > 0 {
		t.Errorf("counting has %v allocations", found)
	}
}

func TestSeveralCountAtOnce(t *testing.T) {
	m := New(begin)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 100 {
				m.count(tool(fmt.Sprint(i%3)), succeeded, begin, time.Millisecond)
				m.Read("t", "s", begin)
			}
		})
	}
	all.Wait()
	if got := m.Read("t", "s", begin); got.Calls != 800 {
		t.Errorf("counted %d", got.Calls)
	}
}

func BenchmarkCount(b *testing.B) {
	m := New(begin)
	b.ReportAllocs()
	for b.Loop() {
		m.count(tool("a"), succeeded, begin, time.Millisecond)
	}
}
