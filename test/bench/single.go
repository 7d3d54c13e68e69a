package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/processtable"
)

func (b *bench) note(name string, value float64, unit, note string) {
	b.found.Single = append(b.found.Single, quantity{name, value, unit, note})
}

// milliseconds of a median.
func milliseconds(times []float64) float64 { return median(times) * 1000 }

// echoServers configures so many echo servers; the last one takes a delay to start.
func (b *bench) echoServers(n int, delay time.Duration) (string, error) {
	servers := make(map[string]any)
	for i := range n {
		args := []string{"echo"}
		if i == n-1 && delay > 0 {
			args = append(args, "-delay", delay.String())
		}
		servers[fmt.Sprintf("server-%02d", i)] = map[string]any{"command": b.self, "args": args}
	}
	return b.configure("proxy", servers)
}

// measureStart takes the time from the start to the answer of initialize.
func (b *bench) measureStart() error {
	config, err := b.echoServers(1, 0)
	if err != nil {
		return err
	}
	var times []float64
	for range 31 {
		began := time.Now()
		p, err := b.start(b.binary, "--config", config)
		if err != nil {
			return err
		}
		if err := p.begin(); err != nil {
			return err
		}
		times = append(times, time.Since(began).Seconds())
		if err := p.stop(); err != nil {
			return err
		}
	}
	b.note("start to the answer of initialize", milliseconds(times), "ms", fmt.Sprintf("median of %d", len(times)))
	return nil
}

// opened starts a workbench with so many servers and opens its toolbox.
func (b *bench) opened(n int, delay time.Duration) (p *peer, took time.Duration, err error) {
	config, err := b.echoServers(n, delay)
	if err != nil {
		return nil, 0, err
	}
	if p, err = b.start(b.binary, "--config", config); err != nil {
		return nil, 0, err
	}
	if err := p.begin(); err != nil {
		return nil, 0, err
	}
	began := time.Now()
	_, err = p.ask("tools/call", fmt.Sprintf(`{"name":"open_toolbox","arguments":{"toolbox":%q}`, boxName))
	return p, time.Since(began), err
}

// settle is how long memory is left alone before it is read.
const settle = 500 * time.Millisecond

func (b *bench) measureMemory() error {
	config, err := b.echoServers(1, 0)
	if err != nil {
		return err
	}
	idle, err := b.start(b.binary, "--config", config)
	if err != nil {
		return err
	}
	if err := idle.begin(); err != nil {
		return err
	}
	time.Sleep(settle)
	b.note("resident memory idle", float64(processtable.Memory(idle.command.Process.Pid))/(1<<20), "MB", "after initialize, no server started")
	if err := idle.stop(); err != nil {
		return err
	}
	for _, n := range []int{10, 50} {
		p, _, err := b.opened(n, 0)
		if err != nil {
			return err
		}
		time.Sleep(settle)
		b.note(fmt.Sprintf("resident memory with %d servers", n), float64(processtable.Memory(p.command.Process.Pid))/(1<<20), "MB", "of the workbench alone")
		if err := p.stop(); err != nil {
			return err
		}
	}
	p, _, err := b.opened(1, 0)
	if err != nil {
		return err
	}
	w := &way{name: "use_tool", peer: p, samples: make(map[load][]sample)}
	w.proxied(boxName, "server-00", "echo")
	if err := w.measure(load{Size: "10 B", Concurrency: 16, bytes: 10, calls: 100_000}, false); err != nil {
		return err
	}
	b.note("resident memory after 100,000 calls", float64(processtable.Memory(p.command.Process.Pid))/(1<<20), "MB", "10 B, 16 at a time")
	return p.stop()
}

// measureOpening opens toolboxes of several sizes, in turn.
func (b *bench) measureOpening() error {
	const delay = 500 * time.Millisecond
	kinds := []struct {
		name  string
		n     int
		delay time.Duration
	}{
		{"open 1 server", 1, 0},
		{"open 10 servers", 10, 0},
		{"open 50 servers", 50, 0},
		{"open 1 server that takes 500 ms", 1, delay},
		{"open 50 servers, one of which takes 500 ms", 50, delay},
	}
	times, cpu := make([][]float64, len(kinds)), make([][]float64, len(kinds))
	for range 5 {
		for i, kind := range kinds {
			p, took, err := b.opened(kind.n, kind.delay)
			if err != nil {
				return err
			}
			used, err := cpuTime(p.command.Process.Pid)
			if err = errors.Join(err, p.stop()); err != nil {
				return err
			}
			times[i] = append(times[i], took.Seconds())
			cpu[i] = append(cpu[i], used.Seconds())
		}
	}
	for i, kind := range kinds {
		b.note(kind.name, milliseconds(times[i]), "ms", fmt.Sprintf("CPU of the workbench %.0f ms", milliseconds(cpu[i])))
	}
	b.note("50 servers with a slow one / the slow one alone", median(times[4])/median(times[3]), "x", "")
	return nil
}

// measureManyTools opens a server with many tools and searches them.
func (b *bench) measureManyTools() error {
	config, err := b.configure("proxy", map[string]any{"many": map[string]any{"command": b.self, "args": []string{"echo", "-tools", "10000"}}})
	if err != nil {
		return err
	}
	p, err := b.start(b.binary, "--config", config)
	if err != nil {
		return err
	}
	if err := p.begin(); err != nil {
		return err
	}
	began := time.Now()
	if _, err := p.ask("tools/call", fmt.Sprintf(`{"name":"open_toolbox","arguments":{"toolbox":%q,"detail":"brief"}`, boxName)); err != nil {
		return err
	}
	b.note("open a server with 10,000 tools", time.Since(began).Seconds()*1000, "ms", "brief answer")
	const search = `{"name":"find_tools","arguments":{"query":"something with an invoice"}`
	began = time.Now()
	if _, err := p.ask("tools/call", search); err != nil {
		return err
	}
	b.note("first search in 10,000 tools", time.Since(began).Seconds()*1000, "ms", "with building the index")
	var times []float64
	for range 50 {
		began = time.Now()
		if _, err := p.ask("tools/call", search); err != nil {
			return err
		}
		times = append(times, time.Since(began).Seconds())
	}
	b.note("search in 10,000 tools", milliseconds(times), "ms", "median of 50")
	b.note("resident memory with 10,000 tools searched", float64(processtable.Memory(p.command.Process.Pid))/(1<<20), "MB", "")
	return p.stop()
}
