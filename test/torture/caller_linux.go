package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/faults/rig"
)

// answerTime is far beyond every timeout: without an answer by then, the call is lost.
const answerTime = 60 * time.Second

// What a server may be asked for, and what cannot be answered.
var (
	sound    = []string{"work", "slow", "hidden", "twins"}
	unsound  = []string{"work", "crash", "hang", "flood", "junk", "huge", "close", "slow", "changes", "hidden", "twins"}
	hopeless = []string{"crash", "hang", "close"}
)

// caller makes one call after the other.
type caller struct {
	number int
	bench  *bench
	score  *score
	done   <-chan struct{}
}

func (c *caller) run() {
	for n := 0; ; n++ {
		select {
		case <-c.done:
			return
		default:
		}
		server, tool := pick(faulty), pick(unsound)
		if n%2 == 0 {
			server, tool = pick(healthy), pick(sound)
		}
		c.score.check(c.call(server, tool, fmt.Sprintf(`{"caller":%d,"n":%d}`, c.number, n)))
	}
}

func pick(of []string) string { return of[rand.IntN(len(of))] }

// call checks one answer: its own data, or for a faulty server an error that names it.
func (c *caller) call(server, tool, arguments string) error {
	want := tool + " " + arguments
	if tool == "hidden" {
		want += rig.HiddenText
	}
	a, err := c.bench.Use("dev", server, tool, arguments).Wait(answerTime)
	switch {
	case err != nil:
		return fmt.Errorf("%s of %s: %w", tool, server, err)
	case !a.IsError && !slices.Contains(hopeless, tool) && strings.TrimRight(a.Text, "h") == want:
		return nil
	case a.IsError && slices.Contains(faulty, server) && strings.Contains(a.Text, server):
		return nil
	}
	return fmt.Errorf("%s of %s with %s was answered: %.300s", tool, server, arguments, a.Line)
}
