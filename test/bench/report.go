package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// printSingle prints the figures that stand by themselves.
func (b *bench) printSingle(out io.Writer) {
	if len(b.found.Single) == 0 {
		return
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s\n", b.found.Machine)
	for _, q := range b.found.Single {
		fmt.Fprintf(table, "%s\t%.2f %s\t%s\n", q.Name, q.Value, q.Unit, q.Note)
	}
	_ = table.Flush() // as every write here: a terminal that is gone
	fmt.Fprintln(out)
}

// printLane prints medians over all rounds, and ratios to the direct way and the pump of
// the same round: whatever else the machine does then hits both.
func (b *bench) printLane(out io.Writer, l *lane) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "%s\tat once\tway\tp50\tp99\tcalls/s\tCPU/call\tallocs\tp50/direct\tp50/pump\trate/pump\t\n", l.name)
	for _, load := range l.loads {
		for _, w := range l.ways {
			f := l.figure(load, w)
			b.found.Calls = append(b.found.Calls, f)
			fmt.Fprintln(table, strings.Join(f.cells(), "\t")+"\t")
		}
	}
	_ = table.Flush()
	fmt.Fprintln(out)
}

// printBefore prints the ratios of our way to those of other versions in the same rounds.
func (b *bench) printBefore(out io.Writer, l *lane) {
	if b.before == "" {
		return
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "this / before\tat once\tbefore\tp50\tcalls/s\tCPU/call\tallocs\t\n")
	for _, load := range l.loads {
		for _, w := range l.ways {
			if w.name == ours || !strings.HasPrefix(w.name, ours) {
				continue
			}
			r := l.ratios(load, l.way(ours), w)
			fmt.Fprintf(table, "%s\t%d\t%s\t%.2fx\t%.2fx\t%.2fx\t%.1f\t\n", load.Size, load.Concurrency, w.name, r.p50, r.rate, r.cpu, r.allocs)
		}
	}
	_ = table.Flush()
	fmt.Fprintln(out)
}

// ratios are medians of one way compared with another in the same rounds; allocs is a difference.
type ratios struct{ p50, rate, cpu, allocs float64 }

func (l *lane) ratios(load load, of, to *way) ratios {
	var p50, rate, cpu, allocs []float64
	for i, s := range of.samples[load] {
		other := to.samples[load][i]
		p50, rate = append(p50, float64(s.P50)/float64(other.P50)), append(rate, s.Rate/other.Rate)
		cpu, allocs = append(cpu, float64(s.CPU)/float64(other.CPU)), append(allocs, s.Allocs-other.Allocs)
	}
	return ratios{median(p50), median(rate), median(cpu), median(allocs)}
}

// way returns the one of that name; nil if the lane has none.
func (l *lane) way(name string) *way {
	for _, w := range l.ways {
		if w.name == name {
			return w
		}
	}
	return nil
}

// cells are what a line of a table shows.
func (f figure) cells() []string {
	ratio := func(value float64) string { return unless(value == 0, fmt.Sprintf("%.2fx", value)) }
	return []string{
		f.Size, strconv.Itoa(f.Concurrency), f.Way, round(f.Median.P50), round(f.Median.P99), fmt.Sprintf("%.0f", f.Median.Rate),
		unless(f.Median.CPU == 0, round(f.Median.CPU)), unless(f.Median.Allocs == 0, fmt.Sprintf("%.1f", f.Median.Allocs)),
		ratio(f.ToDirect), ratio(f.ToPump), ratio(f.RateTo),
	}
}

func round(d time.Duration) string { return d.Round(time.Microsecond).String() }

func unless(absent bool, text string) string {
	if absent {
		return ""
	}
	return text
}

// figure takes the medians of a way under a load.
func (l *lane) figure(load load, w *way) figure {
	f := figure{Lane: l.name, load: load, Way: w.name}
	var p50, p99, rate, cpu, allocs []float64
	for _, s := range w.samples[load] {
		p50, p99, rate = append(p50, float64(s.P50)), append(p99, float64(s.P99)), append(rate, s.Rate)
		cpu, allocs = append(cpu, float64(s.CPU)), append(allocs, s.Allocs)
	}
	f.Median = sample{
		P50: time.Duration(median(p50)), P99: time.Duration(median(p99)), Rate: median(rate),
		CPU: time.Duration(median(cpu)), Allocs: median(allocs),
	}
	f.ToDirect = l.ratios(load, w, l.ways[0]).p50
	if pump := l.way("pump"); pump != nil {
		to := l.ratios(load, w, pump)
		f.ToPump, f.RateTo = to.p50, to.rate
	}
	return f
}

// goal is a bound that the project has set itself.
type goal struct {
	name    string
	most    float64
	atLeast bool // instead
	value   func(figures) (float64, bool)
}

// goalFound is a goal with what was found.
type goalFound struct {
	Name    string  `json:"name"`
	Bound   float64 `json:"bound"`
	Found   float64 `json:"found"`
	Reached bool    `json:"reached"`
}

func call(lane, size string, concurrency int, value func(figure) float64) func(figures) (float64, bool) {
	return func(found figures) (float64, bool) {
		for _, f := range found.Calls {
			if f.Lane == lane && f.Way == ours && f.Size == size && f.Concurrency == concurrency {
				return value(f), true
			}
		}
		return 0, false
	}
}

func single(name string) func(figures) (float64, bool) {
	return func(found figures) (float64, bool) {
		for _, q := range found.Single {
			if q.Name == name {
				return q.Value, true
			}
		}
		return 0, false
	}
}

func toPump(f figure) float64     { return f.ToPump }
func rateToPump(f figure) float64 { return f.RateTo }
func perCall(f figure) float64    { return f.Median.Allocs }

var goals = []goal{
	{"use_tool, stdio to stdio, p50 / pump, 10 B", 1.25, false, call("stdio-stdio", "10 B", 1, toPump)},
	{"use_tool, stdio to stdio, p50 / pump, 64 KB", 1.25, false, call("stdio-stdio", "64 KB", 1, toPump)},
	{"use_tool, stdio to stdio, p50 / pump, 1 MB", 1.25, false, call("stdio-stdio", "1 MB", 1, toPump)},
	{"calls per second / pump, 16 at once", 0.75, true, call("stdio-stdio", "10 B", 16, rateToPump)},
	{"calls per second / pump, 64 at once", 0.75, true, call("stdio-stdio", "10 B", 64, rateToPump)},
	{"HTTP to stdio, p50 / pump, 10 B", 1.25, false, call("http-stdio", "10 B", 1, toPump)},
	{"HTTP to stdio, p50 / pump, 64 KB", 1.25, false, call("http-stdio", "64 KB", 1, toPump)},
	{"allocations of a call of 10 B", 5, false, call("stdio-stdio", "10 B", 1, perCall)},
	{"50 servers with a slow one / the slow one alone", 1.2, false, single("50 servers with a slow one / the slow one alone")},
	{"resident memory idle, MB", 15, false, single("resident memory idle")},
	{"resident memory with 10 servers, MB", 20, false, single("resident memory with 10 servers")},
	{"resident memory after 100,000 calls, MB", 25, false, single("resident memory after 100,000 calls")},
	{personTime, 1.05, false, single(personTime)},
	{personAllocations, 4, false, single(personAllocations)},
	{loginTime, 1.05, false, single(loginTime)},
	{loginAllocations, 1, false, single(loginAllocations)},
	{policyTime, 1.05, false, single(policyTime)},
	{policyAllocations, 1, false, single(policyAllocations)}, // runs without a policy differ by up to 0.6; tests hold it to none
	{"start to the answer of initialize, ms", 10, false, single("start to the answer of initialize")},
}

func (b *bench) printGoals(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "goal\tbound\tfound\t")
	for _, g := range goals {
		value, measured := g.value(b.found)
		if !measured {
			continue
		}
		reached, sign, verdict := value <= g.most, "<=", "reached"
		if g.atLeast {
			reached, sign = value >= g.most, ">="
		}
		if !reached {
			verdict = "NOT reached"
		}
		b.found.Goals = append(b.found.Goals, goalFound{g.name, g.most, value, reached})
		fmt.Fprintf(table, "%s\t%s %.2f\t%.2f\t%s\n", g.name, sign, g.most, value, verdict)
	}
	_ = table.Flush()
}
