package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/faults/rig"
)

// startFault is a server that never becomes usable.
type startFault struct {
	row    string
	server rig.Server
	words  []string // one of them is in the error
	traits []trait
}

func startFaults(t *testing.T) []startFault {
	t.Helper()
	plain := filepath.Join(t.TempDir(), "plain.txt")
	if err := os.WriteFile(plain, []byte("no program\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	role := func(name string) rig.Server { return rig.Server{Role: name} }
	timeout := []string{"timeout", "timed out", "did not answer", "no answer"}
	gone := []string{exited, "code"}
	process := []trait{ownProcess}
	return []startFault{
		{"1 missing binary", rig.Server{Command: "/no/such/binary"}, []string{"/no/such/binary", "not found"}, process},
		{"2 not executable", rig.Server{Command: plain}, []string{"permission"}, process},
		{"3 exits with a reason", role("exits-loud"), []string{"the licence has expired", "code 7"}, process},
		{"4 exits silently", role("exits-silent"), []string{exited}, process},
		{"5 hangs on initialize", role("hangs-initialize"), timeout, nil},
		{"6 never reads stdin", role("never-reads"), timeout, process},
		{"7 stopped", role("stops-itself"), timeout, process},
		{"8 junk for ever", role("junk"), timeout, nil},
		{"9 one line without end", role("endless-line"), append(timeout, "too long", "longer than", "limit"), nil},
		{"10 initialize answered with an error", role("initialize-error"), []string{"the moon is full"}, nil},
		{"11 crashes on initialize", role("crash-initialize"), gone, nil},
		{"12 never answers tools list", role("hangs-list"), timeout, nil},
		{"13 tools list answered with an error", role("list-error"), []string{"the tools are lent out"}, nil},
		{"14 tools is not an array", role("list-no-array"), []string{"tools"}, nil},
		{"15 crashes on tools list", role("crash-list"), gone, nil},
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	for _, fault := range startFaults(t) {
		row(t, fault.row+"/alone", func(t *testing.T, p pairing) {
			b := start(t, p, box{"rogue": fault.server})
			b.named(b.wait(b.Open("dev"), promptly), "rogue", fault.words...)
		}, fault.traits...)
		row(t, fault.row+"/beside", func(t *testing.T, p pairing) {
			b := start(t, p, box{"rogue": fault.server, "good": {Role: "good"}})
			b.besideGood(fault.words...)
		}, fault.traits...)
	}
	row(t, "16 negotiates version 1999-01-01", func(t *testing.T, p pairing) {
		b := start(t, p, box{"rogue": {Role: "ancient"}, "good": {Role: "good"}})
		b.open(promptly)
		b.works("good", "echo", sibling)
	})
	row(t, "17 has no tools capability", func(t *testing.T, p pairing) {
		b := start(t, p, box{"rogue": {Role: "no-tools"}, "good": {Role: "good"}})
		b.open(promptly)
		b.works("good", "echo", sibling)
	})
	row(t, "18 start timed out and ignores signals", testTimedOutIsEnded, ownProcess)
	row(t, "19 opened five times with a broken server", testOpenedFiveTimes, ownProcess)
	row(t, "20 always dies at start", testAlwaysDies, ownProcess)
}

// besideGood checks that a toolbox opens although a server named rogue does not start.
func (b *bench) besideGood(words ...string) {
	b.t.Helper()
	o := b.open(promptly)
	if o.Connected != 1 || len(o.Errors) != 1 {
		b.t.Fatalf("one server should be connected and one named: %+v", o)
	}
	b.says(o.Errors[0], "rogue", words...)
	b.works("good", "echo", sibling)
}

func testTimedOutIsEnded(t *testing.T, p pairing) {
	b := start(t, p, box{"rogue": {Role: "hangs-stubborn"}})
	b.named(b.wait(b.Open("dev"), promptly), "rogue")
	err := rig.Eventually(recovery, func() error {
		if living := b.Living("rogue"); len(living) > 0 {
			return fmt.Errorf("still there: %v", living)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if b.Starts("rogue") == 0 {
		t.Error("it was never started")
	}
}

func testOpenedFiveTimes(t *testing.T, p pairing) {
	b := start(t, p, box{"rogue": {Role: "exits-loud"}, "one": {Role: "good"}, "two": {Role: "good"}})
	for range 5 {
		b.open(promptly)
	}
	for _, name := range []string{"one", "two"} {
		if living := b.Living(name); b.Starts(name) != 1 || len(living) != 1 {
			t.Errorf("%s was started %d times and has %d processes", name, b.Starts(name), len(living))
		}
	}
}

func testAlwaysDies(t *testing.T, p pairing) {
	b := start(t, p, box{"rogue": {Role: "exits-loud"}})
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for range 50 {
		b.named(b.wait(b.Open("dev"), promptly), "rogue", "the licence has expired", "code 7")
		<-ticker.C
	}
	if starts := b.Starts("rogue"); starts < 2 || starts > 15 {
		t.Errorf("it was started %d times", starts)
	}
}

func TestOdd(t *testing.T) {
	t.Parallel()
	for _, odd := range []struct {
		row, role string
		traits    []trait
	}{
		{"21 log lines and bare values before the handshake", "chatty-start", nil},
		{"22 a log line before every message", "chatty", nil},
		{"23 messages in small pieces", "pieces", nil},
		{"24 CRLF", "crlf", nil},
		{"25 several messages and blank lines in one write", "together", nil},
		{"26 5 s before it reads", "slow-5s", nil},
		{"26 20 s before it reads", "slow-20s", []trait{ownProcess}},
		{"27 64 MiB on stderr", "loud-stderr", []trait{ownProcess}},
	} {
		row(t, odd.row, func(t *testing.T, p pairing) {
			b := startWith(t, p, rig.Options{Top: patientTimeouts, Boxes: map[string]box{"dev": {"odd": {Role: odd.role}}}})
			if o := b.open(35 * time.Second); o.Connected != 1 {
				t.Fatalf("it is not connected: %+v", o)
			}
			for range 3 {
				b.works("odd", "echo", sibling)
			}
		}, odd.traits...)
	}
}
