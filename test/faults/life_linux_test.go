package faults

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/faults/rig"
	"github.com/mcp-workbench/mcp-workbench/test/processtable"
)

// ending is a way to end the workbench.
type ending struct {
	name  string
	end   func(b *bench) error
	trait trait
}

func bySignal(sig syscall.Signal) func(b *bench) error {
	return func(b *bench) error { return b.Signal(sig) }
}

var endings = []ending{
	{"SIGTERM", bySignal(syscall.SIGTERM), trait{}},
	{"SIGINT", bySignal(syscall.SIGINT), trait{}},
	{"stdin closed", func(b *bench) error { return b.CloseStdin() }, onStdin},
}

// ends ends the workbench and checks that it is gone in time, with all that it started.
func (b *bench) ends(end func(b *bench) error, left time.Duration) {
	b.t.Helper()
	if peak := b.PeakMemory(); peak > memory {
		b.t.Errorf("the workbench had %d MiB of memory", peak>>20)
	}
	b.ended = true
	if err := end(b); err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.AwaitExit(promptly); err != nil {
		b.t.Error(err)
	}
	if err := b.AwaitNothingLeft(left); err != nil {
		b.t.Error(err)
	}
}

func stubbornServers(n int) box {
	servers := make(box)
	for i := range n {
		servers[fmt.Sprint("s", i)] = rig.Server{Role: "stubborn"}
	}
	return servers
}

func TestLife(t *testing.T) {
	t.Parallel()
	fleets := []struct {
		row     string
		servers box
	}{
		{"73 ordinary server", box{"s": {Role: "good"}}},
		{"74 stubborn server", stubbornServers(1)},
		{"75 ten stubborn servers", stubbornServers(10)},
		{"76 grandchildren in group and session", box{"tree": {Role: "children"}, "stubborn": {Role: "stubborn-tree"}}},
	}
	for _, fleet := range fleets {
		for _, ending := range endings {
			row(t, fleet.row+"/"+ending.name, func(t *testing.T, p pairing) {
				b := start(t, p, fleet.servers)
				b.open(promptly)
				b.ends(ending.end, 2*time.Second)
			}, ownProcess, ending.trait)
		}
		row(t, "77 SIGKILL/"+fleet.row[3:], func(t *testing.T, p pairing) {
			b := start(t, p, fleet.servers)
			b.open(promptly)
			b.ends(bySignal(syscall.SIGKILL), 5*time.Second)
		}, ownProcess)
	}
	row(t, "78 second SIGTERM", func(t *testing.T, p pairing) {
		b := start(t, p, stubbornServers(3))
		b.open(promptly)
		b.ends(func(b *bench) error { return errors.Join(b.Signal(syscall.SIGTERM), b.Signal(syscall.SIGTERM)) }, 2*time.Second)
	}, ownProcess)
	row(t, "78 SIGTERM while a server hangs at start", func(t *testing.T, p pairing) {
		b := start(t, p, box{"rogue": {Role: "hangs-stubborn"}})
		b.Open("dev")
		b.awaitLog("rogue", `"initialize"`, sibling)
		b.ends(bySignal(syscall.SIGTERM), 2*time.Second)
	}, ownProcess)
	row(t, "78 client gone during a call", func(t *testing.T, p pairing) {
		b := startCalls(t, p)
		b.Use("dev", "rogue", "hang", "{}")
		b.awaitLog("rogue", `"hang"`, sibling)
		b.ends(func(b *bench) error { return b.CloseStdin() }, 2*time.Second)
	}, ownProcess, onStdin)
	row(t, "78 client ends its session during a call", func(t *testing.T, p pairing) {
		b := startCalls(t, p)
		call := b.Use("dev", "rogue", "hang", "{}")
		b.awaitLog("rogue", `"hang"`, sibling)
		if err := b.Leave(); err != nil {
			t.Fatal(err)
		}
		if a := b.wait(call, sibling); !a.IsError || !strings.Contains(a.Text, "the session has ended") {
			t.Errorf("answered %s", a.Line)
		}
		b.awaitLog("rogue", `"notifications/cancelled"`, sibling)
		b.ends(bySignal(syscall.SIGTERM), 2*time.Second)
	}, aboveOnly(rig.HTTP, "over stdio a session ends with stdin"))
	row(t, "79 SIGTERM during a 1 s call", func(t *testing.T, p pairing) {
		b := startCalls(t, p)
		call := b.Use("dev", "rogue", "one-second", "{}")
		b.awaitLog("rogue", "one-second began", sibling)
		b.ends(bySignal(syscall.SIGTERM), 2*time.Second)
		isText("one second later")(b, b.wait(call, promptly))
	}, ownProcess)
	row(t, "80 SIGHUP", testHangup, ownProcess)
	row(t, "81 nothing opened", func(t *testing.T, p pairing) {
		b := start(t, p, box{"s": {Role: "good"}})
		b.wait(b.Begin("tools/list", "{}"), promptly)
		if starts := b.Starts("s"); starts != 0 {
			t.Errorf("%d servers were started", starts)
		}
		if below := processtable.Below(b.PID); len(below) != 0 {
			t.Errorf("processes were started: %v", below)
		}
	}, ownProcess)
	row(t, "82 idle with 5 servers", testIdle, ownProcess)
}

// testHangup is about a workbench without a terminal, where a hang-up is the order to reload.
func testHangup(t *testing.T, p pairing) {
	b := startWith(t, p, rig.Options{Args: []string{"--log-level", "info"}, Boxes: map[string]box{"dev": {"rogue": {Role: "calls"}}}})
	b.open(promptly)
	if err := b.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	err := rig.Eventually(sibling, func() error {
		if !strings.Contains(b.Log(), "the configuration did not change") {
			return errors.New("the file was not read again")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	b.works("rogue", "echo", sibling)
	if starts := b.Starts("rogue"); starts != 1 {
		t.Errorf("the server was started %d times", starts)
	}
}

func testIdle(t *testing.T, p pairing) {
	b := start(t, p, box{"a": {Role: "good"}, "b": {Role: "good"}, "c": {Role: "good"}, "d": {Role: "good"}, "e": {Role: "good"}})
	b.open(promptly)
	const watched = 5 * time.Second
	<-time.After(time.Second) // what belongs to the opening is over
	before := cpuTime(t, b.PID)
	<-time.After(watched)
	if used := cpuTime(t, b.PID) - before; used > watched/100 {
		t.Errorf("the workbench used %v of CPU in %v", used, watched)
	}
}

// cpuTime returns what a process has used of the CPU, which a busy machine does not change.
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	p, ok := processtable.Find(pid)
	if !ok {
		t.Fatalf("process %d is gone", pid)
	}
	return p.CPUTime()
}
