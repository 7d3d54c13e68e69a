package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// bench is one run of all measurements.
type bench struct {
	binary string
	rounds int
	config string // of the workbench, with an echo server
}

// sizes of what is echoed, and how many calls of each make one round.
var sizes = []struct {
	name  string
	bytes int
	calls int
}{
	{"10 B", 10, 2000},
	{"64 KB", 64 << 10, 300},
	{"1 MB", 1 << 20, 30},
}

// way is one way to reach the echo server.
type way struct {
	name  string
	peer  *peer
	tool  string              // how a call names the tool and begins its arguments
	tail  string              // what ends such a call
	times map[string][]sample // by size
}

// sample is what one round of one size showed.
type sample struct{ p50, p99 time.Duration }

func (b *bench) run(out io.Writer) error {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := b.writeConfig(folder); err != nil {
		return err
	}
	if err := b.reportStart(out); err != nil {
		return err
	}
	ways, err := b.ways()
	if err != nil {
		return err
	}
	for round := range b.rounds + 1 {
		for _, size := range sizes {
			for _, w := range ways {
				if err := w.measure(size.name, size.bytes, size.calls, round > 0); err != nil {
					return fmt.Errorf("%s, %s: %w", w.name, size.name, err)
				}
			}
		}
	}
	b.report(out, ways)
	for _, w := range ways {
		err = errors.Join(err, w.peer.stop())
	}
	return err
}

func (b *bench) writeConfig(folder string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	b.config = filepath.Join(folder, "workbench-config.json")
	content, err := json.Marshal(map[string]any{"toolboxes": map[string]any{"b": map[string]any{
		"description": "bench", "mcpServers": map[string]any{"e": map[string]any{"command": self, "args": []string{"echo"}}},
	}}})
	if err != nil {
		return err
	}
	return os.WriteFile(b.config, content, 0o600)
}

func (b *bench) ways() ([]*way, error) {
	direct := `{"name":"echo","arguments":{"text":"`
	proxied := `{"name":"use_tool","arguments":{"tool":{"toolbox":"b","server":"e","name":"echo"},"arguments":{"text":"`
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ways := []*way{
		{name: "direct", tool: direct, tail: `"}}`},
		{name: "pump", tool: direct, tail: `"}}`},
		{name: "workbench", tool: proxied, tail: `"}}}`},
	}
	commands := [][]string{{self, "echo"}, {self, "pump"}, {b.binary, "--config", b.config}}
	for i, w := range ways {
		w.times = make(map[string][]sample)
		if w.peer, err = start(commands[i][0], commands[i][1:]...); err != nil {
			return nil, err
		}
		if err := w.peer.initialize(); err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
	}
	_, err = ways[2].peer.ask("tools/call", `{"name":"open_toolbox","arguments":{"toolbox":"b"}}`)
	return ways, err
}

// measure makes one round of calls; a round that only warms up is not kept.
func (w *way) measure(size string, length, calls int, keep bool) error {
	text := strings.Repeat("x", length)
	times := make([]time.Duration, calls)
	for i := range times {
		w.peer.lastID++
		request := fmt.Appendf(make([]byte, 0, length+300), `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s`, w.peer.lastID, w.tool)
		request = append(append(request, text...), w.tail+"}\n"...)
		began := time.Now()
		answer, err := w.peer.exchange(request)
		times[i] = time.Since(began)
		if err != nil {
			return err
		}
		if len(answer) < length || bytes.Contains(answer[:100], []byte("rror")) {
			return fmt.Errorf("wrong answer: %.300s", answer)
		}
	}
	if keep {
		slices.Sort(times)
		w.times[size] = append(w.times[size], sample{times[len(times)/2], times[len(times)*99/100]})
	}
	return nil
}

// report prints the medians over all rounds, and ratios to the pump of the same round:
// whatever else the machine does then hits both.
func (b *bench) report(out io.Writer, ways []*way) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "size\tway\tp50\tp99\tp50 / direct\tp50 / pump\t")
	for _, size := range sizes {
		for _, w := range ways {
			var p50, p99, toDirect, toPump []float64
			for round, s := range w.times[size.name] {
				p50 = append(p50, float64(s.p50))
				p99 = append(p99, float64(s.p99))
				toDirect = append(toDirect, float64(s.p50)/float64(ways[0].times[size.name][round].p50))
				toPump = append(toPump, float64(s.p50)/float64(ways[1].times[size.name][round].p50))
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%.2fx\t%.2fx\t\n", size.name, w.name,
				time.Duration(median(p50)).Round(time.Microsecond), time.Duration(median(p99)).Round(time.Microsecond),
				median(toDirect), median(toPump))
		}
	}
	table.Flush()
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// reportStart prints the time from start to the answer of initialize, and the memory
// of an idle workbench.
func (b *bench) reportStart(out io.Writer) error {
	var times []float64
	var memory int
	for range 21 {
		began := time.Now()
		p, err := start(b.binary, "--config", b.config)
		if err != nil {
			return err
		}
		if err := p.initialize(); err != nil {
			return err
		}
		times = append(times, float64(time.Since(began)))
		memory = residentKB(p.command.Process.Pid)
		if err := p.stop(); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "start to the answer of initialize: %s (median of %d)\n", time.Duration(median(times)).Round(10*time.Microsecond), len(times))
	fmt.Fprintf(out, "resident memory when idle: %.1f MB\n\n", float64(memory)/1024)
	return nil
}

// residentKB returns the resident memory of a process, or 0 where the system does not say.
func residentKB(pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			return kb
		}
	}
	return 0
}
