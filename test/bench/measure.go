package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// load is one kind of work: how much is echoed, by how many at a time, and how many calls
// make one round.
type load struct {
	Size        string `json:"size"`
	Concurrency int    `json:"concurrency"`
	bytes       int
	calls       int
}

var loads = []load{
	{"10 B", 1, 10, 1500},
	{"10 B", 16, 10, 16000},
	{"10 B", 64, 10, 32000},
	{"64 KB", 1, 64 << 10, 250},
	{"64 KB", 16, 64 << 10, 400},
	{"64 KB", 64, 64 << 10, 400},
	{"1 MB", 1, 1 << 20, 25},
	{"1 MB", 16, 1 << 20, 48},
	{"1 MB", 64, 1 << 20, 64},
}

// way is one way to reach the echo server.
type way struct {
	name    string
	peer    *peer
	tool    string              // that is called
	params  string              // of a call, up to the text
	tail    string              // of the params after the text, without the last brace
	meter   *meter              // of the process in between; nil: there is none
	samples map[load]([]sample) // by load, one of each round
}

// sample is what one round of one load showed.
type sample struct {
	P50    time.Duration `json:"p50_ns"`
	P99    time.Duration `json:"p99_ns"`
	Rate   float64       `json:"calls_per_second"`
	CPU    time.Duration `json:"cpu_ns_per_call"`      // of the process in between
	Allocs float64       `json:"allocations_per_call"` // of the workbench
}

// native is the way of a call that names the tool itself, proxied the one through use_tool.
func (w *way) native(name string) {
	w.tool, w.params, w.tail = name, fmt.Sprintf(`{"name":%q,"arguments":{"text":"`, name), `"}`
}

func (w *way) proxied(toolbox, server, name string) {
	w.tool = "use_tool"
	w.params = fmt.Sprintf(`{"name":"use_tool","arguments":{"tool":{"toolbox":%q,"server":%q,"name":%q},"arguments":{"text":"`, toolbox, server, name)
	w.tail = `"}}`
}

// measure makes one round of calls; a round that only warms up is not kept.
func (w *way) measure(l load, keep bool) error {
	before, err := w.meter.begin()
	if err != nil {
		return err
	}
	began := time.Now()
	var times []time.Duration
	if w.peer.address != "" {
		times, err = w.overHTTP(l)
	} else {
		times, err = w.overStdio(l)
	}
	took := time.Since(began)
	if err != nil {
		return err
	}
	used, err := w.meter.since(before)
	if err != nil || !keep {
		return err
	}
	slices.Sort(times)
	n := len(times)
	w.samples[l] = append(w.samples[l], sample{
		P50: times[n/2], P99: times[n*99/100], Rate: float64(n) / took.Seconds(),
		CPU: used.cpu / time.Duration(n), Allocs: float64(used.allocations) / float64(n),
	})
	return nil
}

// call builds a request.
func (w *way) call(id int, text string) []byte {
	return w.peer.request(id, "tools/call", w.params+text+w.tail)
}

func check(answer []byte, length int) error {
	if len(answer) < length || bytes.Contains(answer[:min(len(answer), 100)], []byte("rror")) {
		return fmt.Errorf("wrong answer: %.300s", answer)
	}
	return nil
}

// overStdio keeps as many requests under way as the load says, in one goroutine: whatever
// the client itself costs is the same for all ways.
func (w *way) overStdio(l load) ([]time.Duration, error) {
	text := strings.Repeat("x", l.bytes)
	sent := make(map[string]time.Time, l.Concurrency)
	times := make([]time.Duration, 0, l.calls)
	send := func() error {
		w.peer.lastID++
		request := w.call(w.peer.lastID, text)
		sent[fmt.Sprint(w.peer.lastID)] = time.Now()
		_, err := w.peer.stdin.Write(request)
		return err
	}
	// What does not fit into the pipes would block the client before it reads.
	writes := make(chan error, 1)
	if l.Concurrency > 1 && l.bytes*l.Concurrency > 32<<10 {
		return w.inTwo(l, text, writes)
	}
	for range min(l.Concurrency, l.calls) {
		if err := send(); err != nil {
			return nil, err
		}
	}
	for begun := l.Concurrency; len(times) < l.calls; {
		answer, err := w.peer.next()
		if err != nil {
			return nil, err
		}
		id := string(idOf(answer))
		times = append(times, time.Since(sent[id]))
		delete(sent, id)
		if err := check(answer, l.bytes); err != nil {
			return nil, err
		}
		if begun < l.calls {
			if err := send(); err != nil {
				return nil, err
			}
			begun++
		}
	}
	return times, nil
}

// inTwo is overStdio with a goroutine that writes, for what is large.
func (w *way) inTwo(l load, text string, writes chan error) ([]time.Duration, error) {
	var mu sync.Mutex
	sent := make(map[string]time.Time, l.Concurrency)
	slots := make(chan struct{}, l.Concurrency)
	first := w.peer.lastID
	w.peer.lastID += l.calls
	go func() {
		for i := range l.calls {
			slots <- struct{}{}
			request := w.call(first+1+i, text)
			mu.Lock()
			sent[fmt.Sprint(first+1+i)] = time.Now()
			mu.Unlock()
			if _, err := w.peer.stdin.Write(request); err != nil {
				writes <- err
				return
			}
		}
		writes <- nil
	}()
	var times []time.Duration
	for range l.calls {
		answer, err := w.peer.next()
		if err != nil {
			return nil, err
		}
		mu.Lock()
		times = append(times, time.Since(sent[string(idOf(answer))]))
		mu.Unlock()
		<-slots
		if err := check(answer, l.bytes); err != nil {
			return nil, err
		}
	}
	return times, <-writes
}

// overHTTP has a goroutine for each request that is under way.
func (w *way) overHTTP(l load) ([]time.Duration, error) {
	text := strings.Repeat("x", l.bytes)
	first := w.peer.lastID
	w.peer.lastID += l.calls
	times := make([]time.Duration, l.calls)
	problems := make([]error, l.Concurrency)
	var clients sync.WaitGroup
	for c := range l.Concurrency {
		clients.Go(func() {
			for i := c; i < l.calls && problems[c] == nil; i += l.Concurrency {
				request := w.call(first+1+i, text)
				began := time.Now()
				answer, err := w.peer.post(request, "tools/call", w.tool)
				times[i] = time.Since(began)
				if err == nil {
					err = check(answer, l.bytes)
				}
				problems[c] = err
			}
		})
	}
	clients.Wait()
	return times, errors.Join(problems...)
}
