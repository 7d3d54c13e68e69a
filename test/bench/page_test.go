package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPage(t *testing.T) {
	folder := t.TempDir()
	data, page := filepath.Join(folder, "data.json"), filepath.Join(folder, "page.md")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(data, `{"machine":"a machine","load":"1 2 3",
		"goals":[{"name":"fast","bound":1.25,"found":2,"reached":false}],
		"single":[{"name":"start","value":7.5,"unit":"ms","note":"median"}],
		"calls":[{"lane":"stdio-stdio","size":"10 B","concurrency":1,"way":"use_tool","median":{"p50_ns":15000,"allocations_per_call":6},"p50_to_direct":2}]}`)
	write(page, "before\n"+tablesBegin+"old\n"+tablesEnd+"after\n")
	for range 2 { // the second time over its own tables
		if err := runPage([]string{data, page}); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	for _, want := range []string{
		"before\n" + tablesBegin, tablesEnd + "after\n", "a machine, load average 1 2 3", "| fast | 1.25 | 2.00 | **not reached** |",
		"| start | 7.50 ms | median |", "### stdio-stdio", "| 10 B | 1 | use_tool | 15µs | 0s | 0 |  | 6.0 | 2.00x |  |  |",
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is %d times in\n%s", want, strings.Count(got, want), got)
		}
	}
	if strings.Contains(got, "old") {
		t.Error("the tables of before are still there")
	}
	write(page, "nothing\n")
	if err := runPage([]string{data, page}); err == nil {
		t.Error("a page without a place for the tables was accepted")
	}
}

func TestMedianFigures(t *testing.T) {
	at := load{Size: "10 B", Concurrency: 1}
	times := func(name string, p50 ...time.Duration) *way {
		w := &way{name: name, samples: make(map[load][]sample)}
		for _, d := range p50 {
			w.samples[at] = append(w.samples[at], sample{P50: d, Rate: 1e9 / float64(d)})
		}
		return w
	}
	l := &lane{ways: []*way{times("direct", 10, 20, 1000), times("pump", 20, 40, 2000), times("use_tool", 30, 60, 3000)}}
	// Of a round in which the machine was busy, only the ratio counts.
	f := l.figure(at, l.ways[2])
	if f.ToDirect != 3 || f.ToPump != 1.5 || f.Median.P50 != 60 {
		t.Errorf("found %+v", f)
	}
	// Another version is compared in the same way.
	if r := l.ratios(at, l.way("use_tool"), l.way("pump")); r.p50 != 1.5 || r.rate > 0.67 || r.rate < 0.66 {
		t.Errorf("compared with the pump, it is %+v", r)
	}
}
