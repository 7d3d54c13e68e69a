package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"
)

// observeRounds is how often all ways are measured, in turn: they differ by little.
const observeRounds = 15

// counted is the way that the others are compared with: every workbench counts calls, and remembers the last ones. What that
// costs is measured by BenchmarkObserved in internal/gateway/front, where it can be left out.
const counted = "metrics and history"

// observations are what else may watch calls: keys of the configuration, and variables of the environment.
var observations = []struct {
	name   string
	config map[string]any
	env    []string // without the receiver's address
}{
	{name: counted},
	{"history in files", map[string]any{"history": map[string]any{"keep": "1d"}}, nil},
	{"traces, not sampled", nil, []string{"OTEL_TRACES_SAMPLER=always_off"}},
	{"traces, sampled", nil, []string{"OTEL_TRACES_SAMPLER=always_on"}},
	{"audit log", map[string]any{"audit": true}, nil},
	{"audit log, required", map[string]any{"audit": map[string]any{"required": true}}, nil},
}

// observeLoads are one call at a time, for its time and allocations, and several, for the CPU time of a call.
var observeLoads = []load{{"10 B", 1, 10, 1000}, {"10 B", 16, 10, 4000}}

// measureObserving compares calls that are traced, or recorded, with those that are only counted, in the same rounds.
func (b *bench) measureObserving() (err error) {
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer receiver.Close()
	l := &lane{name: "observe", loads: observeLoads}
	defer func() { err = errors.Join(err, l.stop()) }()
	plain := b.env
	defer func() { b.env = plain }()
	for _, observed := range observations {
		config := map[string]any{"toolboxes": map[string]any{boxName: map[string]any{
			"description": "bench", "mcpServers": map[string]any{serverName: map[string]any{"command": b.self, "args": []string{"echo"}}},
		}}}
		for key, value := range observed.config {
			config[key] = value
		}
		b.env = plain
		if observed.env != nil {
			b.env = slices.Concat(plain, observed.env, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + receiver.URL})
		}
		path, err := b.write(config)
		if err != nil {
			return err
		}
		if err := b.addConfigured(b.binary, observed.name, "stdio", "proxy", path, l.add); err != nil {
			return fmt.Errorf("%s: %w", observed.name, err)
		}
	}
	if err := l.measure(observeRounds); err != nil {
		return err
	}
	for _, observed := range observations {
		if observed.name == counted {
			continue
		}
		b.noteObserved(l, observed.name)
	}
	return nil
}

// noteObserved notes what a way costs more than counting alone.
func (b *bench) noteObserved(l *lane, name string) {
	single, many := l.loads[0], l.loads[1]
	of, to := l.way(name), l.way(counted)
	var time50, cpu []float64
	for i, s := range of.samples[single] {
		time50 = append(time50, microseconds(s.P50-to.samples[single][i].P50))
	}
	for i, s := range of.samples[many] {
		cpu = append(cpu, microseconds(s.CPU-to.samples[many][i].CPU))
	}
	b.note(name+", more than "+counted, median(time50), "µs", fmt.Sprintf("p50 of a call; CPU of the workbench %+.2f µs a call with %d at once; median of %d rounds", median(cpu), many.Concurrency, observeRounds))
	b.note("allocations of a call, "+name+", more than "+counted, l.ratios(single, of, to).allocs, "", "with what is done in the background")
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
