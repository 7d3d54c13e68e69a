package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/faults/rig"
)

const (
	workbenches = 2
	callers     = 8

	memoryLimit  = 192 << 20
	moreFiles    = 8 // descriptors that may be open at the end beyond those at the start
	settleTime   = 15 * time.Second
	reportEvery  = 5 * time.Second
	honestTime   = time.Minute // from this time on the 45 s call is made too
	shownFailure = 20
)

// score counts checks. Failures are told as they come, up to a number.
type score struct {
	mu             sync.Mutex
	passed, failed int
}

func (s *score) check(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.passed++
		return
	}
	if s.failed++; s.failed <= shownFailure {
		fmt.Println("FAILED:", err)
	}
}

func (s *score) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%d passed, %d failed", s.passed, s.failed)
}

func play(args []string) (code int, played bool) {
	if len(args) == 3 && args[0] == rig.ServeArg {
		return rig.Serve(args[1:]), true
	}
	return 0, false
}

func run(o orders) int {
	dir, err := os.MkdirTemp("", "torture-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	var s score
	if o.binary, err = filepath.Abs(o.binary); err == nil {
		err = s.torture(o, dir)
	}
	if err != nil {
		s.check(err)
	}
	for i := range o.kills {
		round := filepath.Join(dir, fmt.Sprint("kill-", i))
		err := rig.KillRound(o.binary, round, o.modules)
		if err != nil {
			err = fmt.Errorf("kill -9, round %d: %w", i+1, err)
		}
		s.check(err)
	}
	fmt.Printf("%d rounds of kill -9\n", o.kills)
	fmt.Println(s.String())
	if s.failed > 0 {
		return 1
	}
	return 0
}

// torture makes calls for the time that was asked for, and then counts.
func (s *score) torture(o orders, dir string) error {
	var benches []*bench
	for i := range workbenches {
		b, err := startBench(o.binary, filepath.Join(dir, fmt.Sprint("bench-", i)), i%2 == 0)
		if b != nil {
			defer b.Discard()
		}
		if err != nil {
			return err
		}
		benches = append(benches, b)
	}
	done := make(chan struct{})
	time.AfterFunc(o.time, func() { close(done) })
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() { (&caller{number: i, bench: benches[i%workbenches], score: s, done: done}).run() })
	}
	if o.time >= honestTime {
		all.Go(func() { s.check(honest(o.binary, filepath.Join(dir, "honest"))) })
	}
	s.report(done, benches)
	all.Wait()
	for _, b := range benches {
		for _, err := range b.finish() {
			s.check(err)
		}
	}
	return nil
}

// report tells now and then how it goes.
func (s *score) report(done <-chan struct{}, benches []*bench) {
	began := time.Now()
	ticker := time.NewTicker(reportEvery)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
		}
		fmt.Printf("%3.0f s: %s;", time.Since(began).Seconds(), s)
		for _, b := range benches {
			fmt.Printf(" %d MiB, %d files, %d threads;", b.Memory()>>20, b.Descriptors(), b.Threads())
		}
		fmt.Println()
	}
}
