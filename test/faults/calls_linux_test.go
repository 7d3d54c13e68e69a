package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/faults/rig"
)

func TestCalls(t *testing.T) {
	t.Parallel()
	row(t, "54 never answered", testNeverAnswered, sample)
	row(t, "55 one call hangs", testOneHangs)
	row(t, "56 long call with signs of life", func(t *testing.T, p pairing) {
		b := startCalls(t, p)
		isText("long done")(b, b.use("rogue", "long", 20*time.Second))
	})
	row(t, "57, 58 and 59 crash during a call", testCrash, sample)
	row(t, "59 crash between calls", func(t *testing.T, p pairing) {
		b := startCalls(t, p)
		b.works("rogue", "echo", sibling)
		for _, p := range b.Living("rogue") {
			p.Kill()
		}
		b.recovers("rogue")
	})
	row(t, "60 five crashes", testFiveCrashes)
	row(t, "61 stopped during a call", testStopped, ownProcess)
	row(t, "62 closes stdout, lives on", testClosesStdout, belowOnly(rig.Stdio, "a pipe can be closed alone; with a connection goes the server"))
	row(t, "63 client cancels", testCancel, sample)
	row(t, "64 100 calls, answers out of order", testOutOfOrder, sample)
	row(t, "65 20 opens at once", testOpensAtOnce)
	row(t, "66 1000 pings", func(t *testing.T, p pairing) {
		// Over HTTP each answer is a request, which a busy machine needs its time for.
		b := startWith(t, p, rig.Options{Top: patientTimeouts, Boxes: map[string]box{"dev": {"rogue": {Role: "calls"}}}})
		b.open(promptly)
		isText("1000 pings")(b, b.use("rogue", "pings", 30*time.Second))
	})
	row(t, "67 server asks, client without", func(t *testing.T, p pairing) {
		b := startCalls(t, p)
		isText("3 refused")(b, b.use("rogue", "asks", promptly))
	}, sample)
	row(t, "68 server asks, client with", func(t *testing.T, p pairing) {
		b := startWith(t, p, rig.Options{
			Capabilities: `{"roots":{},"sampling":{},"elicitation":{}}`, Boxes: map[string]box{"dev": {"rogue": {Role: "calls"}}},
		})
		b.open(promptly)
		isText("3 refused")(b, b.use("rogue", "asks", promptly))
		if asks := b.Asks(); asks != 3 { // and it refuses them all
			t.Errorf("the client was asked %d times", asks)
		}
	})
}

// startCalls starts a workbench with one server that obeys and one that does not.
func startCalls(t *testing.T, p pairing) *bench {
	t.Helper()
	b := start(t, p, box{"rogue": {Role: "calls"}, "good": {Role: "good"}})
	b.open(promptly)
	return b
}

// awaitLog waits until a server's log holds a text.
func (b *bench) awaitLog(server, text string, limit time.Duration) {
	b.t.Helper()
	err := rig.Eventually(limit, func() error {
		if !strings.Contains(b.ServerLog(server), text) {
			return fmt.Errorf("the log of %s does not say %q", server, text)
		}
		return nil
	})
	if err != nil {
		b.t.Errorf("%v:\n%.2000s", err, b.ServerLog(server))
	}
}

func testNeverAnswered(t *testing.T, p pairing) {
	b := startCalls(t, p)
	b.named(b.use("rogue", "hang", promptly), "rogue", "timeout", "timed out")
	b.awaitLog("rogue", `"notifications/cancelled"`, sibling)
	b.works("good", "echo", sibling)
	b.recovers("rogue")
}

func testOneHangs(t *testing.T, p pairing) {
	b := startCalls(t, p)
	hanging := b.Use("dev", "rogue", "hang", "{}")
	for i := range 20 {
		b.works([]string{"rogue", "good"}[i%2], "echo", sibling)
	}
	b.named(b.wait(hanging, promptly), "rogue")
}

func testCrash(t *testing.T, p pairing) {
	b := startCalls(t, p)
	b.named(b.use("rogue", "crash", sibling), "rogue", exited, "code 9")
	b.works("good", "echo", sibling)
	b.recovers("rogue")
	if runs := strings.Count(b.ServerLog("rogue"), `"crash"`); runs != 1 {
		t.Errorf("the call was run %d times", runs)
	}
}

func testFiveCrashes(t *testing.T, p pairing) {
	b := startCalls(t, p)
	b.works("rogue", "echo", sibling)
	before := b.Descriptors()
	for range 5 {
		b.named(b.use("rogue", "crash", sibling), "rogue")
		b.recovers("rogue")
	}
	if after := b.Descriptors(); after > before+8 {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func testStopped(t *testing.T, p pairing) {
	b := startCalls(t, p)
	call := b.Use("dev", "rogue", "hang", "{}")
	b.awaitLog("rogue", `"hang"`, sibling)
	for _, p := range b.Living("rogue") {
		if err := syscall.Kill(p.PID, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	b.works("good", "echo", sibling)
	b.named(b.wait(call, promptly), "rogue")
	b.works("good", "echo", sibling)
}

func testClosesStdout(t *testing.T, p pairing) {
	b := startCalls(t, p)
	b.named(b.use("rogue", "close-stdout", promptly), "rogue")
	b.recovers("rogue")
	err := rig.Eventually(promptly, func() error {
		if living := b.Living("rogue"); len(living) != 1 {
			return fmt.Errorf("there should be one process: %v", living)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func testCancel(t *testing.T, p pairing) {
	b := startCalls(t, p)
	call := b.Use("dev", "rogue", "late", "{}")
	b.awaitLog("rogue", "late began", sibling)
	call.Forbid()
	if err := call.Cancel(); err != nil {
		t.Fatal(err)
	}
	b.awaitLog("rogue", "\ncancelled ", 3*time.Second)
	b.awaitLog("rogue", "late answered", sibling)
	var began, cancelled string
	for line := range strings.Lines(b.ServerLog("rogue")) {
		if id, ok := strings.CutPrefix(line, "late began "); ok {
			began = id
		} else if id, ok := strings.CutPrefix(line, "cancelled "); ok {
			cancelled = id
		}
	}
	if began != cancelled {
		t.Errorf("%q was begun and %q cancelled", began, cancelled)
	}
	b.works("rogue", "echo", sibling) // its answer would come behind a forbidden one
}

func testOutOfOrder(t *testing.T, p pairing) {
	b := startWith(t, p, rig.Options{Top: patientTimeouts, Boxes: map[string]box{"dev": {"rogue": {Role: "calls"}}}})
	b.open(promptly)
	var calls []*rig.Call
	for i := range 100 {
		calls = append(calls, b.Use("dev", "rogue", "gather", fmt.Sprintf(`{"n":%d}`, i)))
	}
	for i, call := range calls {
		isText(fmt.Sprintf(`gather {"n":%d}`, i))(b, b.wait(call, promptly))
	}
}

func testOpensAtOnce(t *testing.T, p pairing) {
	b := start(t, p, box{"one": {Role: "good"}, "two": {Role: "good"}, "three": {Role: "good"}})
	var all sync.WaitGroup
	errs := make(chan error, 20)
	for range 20 {
		all.Go(func() {
			a, err := b.Open("dev").Wait(promptly)
			var o opened
			if err == nil {
				err = json.Unmarshal([]byte(a.Text), &o)
			}
			if err == nil && o.Connected != 3 {
				err = errors.New(a.Text)
			}
			errs <- err
		})
	}
	all.Wait()
	for range 20 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"one", "two", "three"} {
		if starts := b.Starts(name); starts != 1 {
			t.Errorf("%s was started %d times", name, starts)
		}
	}
}
