package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/processtable"
)

// This file is about the workbench that several clients share, which shared.mjs drives.

// sharedLine is one line that shared.mjs prints.
type sharedLine struct {
	Step    string
	PIDs    []int
	Texts   []string
	Text    string
	Changes int
	Seen    []struct {
		Steps  int
		Totals []int
		Count  int
		Text   string
	}
}

// sharedScript is shared.mjs while it runs.
type sharedScript struct {
	t     *testing.T
	bench *bench
	stdin io.Writer
	lines *bufio.Scanner
}

// shareBench is a workbench of the three servers whose clients share it.
func shareBench(t *testing.T) *bench {
	t.Helper()
	root := realTempDir(t)
	b := newBench(t, "", box{"all", "Three servers", []server{
		everythingServer(t), filesystemServer(t, root), memoryServer(t, filepath.Join(root, "memory.jsonl")),
	}})
	b.share()
	return b
}

// share prepares a workbench that clients share: it waits for the next client only for a
// short time, so that the test sees it end, and its sockets are the test's own.
func (b *bench) share() {
	b.t.Helper()
	text, err := os.ReadFile(b.config)
	if err == nil {
		err = os.WriteFile(b.config, append([]byte(`{"sharedIdle": "1s", `), text[1:]...), 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	if b.sockets, err = os.MkdirTemp("/tmp", "wb"); err != nil { // the name of a socket has to be short
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = os.RemoveAll(b.sockets) })
}

func runShared(t *testing.T, b *bench, plan ...string) *sharedScript {
	t.Helper()
	if _, err := os.Stat("shared.mjs"); err != nil { // also tells Go's cache of results that we depend on it
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience*3)
	cmd := exec.CommandContext(ctx, needNode(t), append([]string{"shared.mjs", b.binary, b.config}, plan...)...)
	cmd.Env, cmd.Stderr = b.environ(), b.stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &sharedScript{t: t, bench: b, stdin: stdin, lines: bufio.NewScanner(stdout)}
	t.Cleanup(func() {
		defer cancel()
		stdin.Close()
		if !t.Failed() {
			s.next("closed")
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("shared.mjs: %v", err)
		}
		b.awaitSharedEnd()
	})
	return s
}

// next returns the next line, which has to be of that step.
func (s *sharedScript) next(step string) (line sharedLine) {
	s.t.Helper()
	if !s.lines.Scan() {
		s.t.Fatalf("shared.mjs ended before %s\n%s", step, s.bench.stderr)
	}
	if err := json.Unmarshal(s.lines.Bytes(), &line); err != nil || line.Step != step {
		s.t.Fatalf("shared.mjs printed %q, %v; want %s", s.lines.Text(), err, step)
	}
	for _, pid := range line.PIDs {
		s.bench.mark.record(pid)
	}
	return line
}

func (s *sharedScript) goOn() {
	s.t.Helper()
	if _, err := fmt.Fprintln(s.stdin, "go on"); err != nil {
		s.t.Fatal(err)
	}
}

// processesOf returns the processes of the test whose command line holds all of the words.
func (b *bench) processesOf(words ...string) (pids []int) {
	for _, p := range processtable.Marked(b.mark.env()) {
		line := p.CommandLine()
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

// awaitSharedEnd waits until the workbench has ended that nobody uses any more.
func (b *bench) awaitSharedEnd() {
	b.t.Helper()
	b.awaitNone(func() bool {
		sockets, _ := filepath.Glob(filepath.Join(b.sockets, "mcp-workbench", "*.sock"))
		return len(b.processesOf(" daemon --")) > 0 || len(sockets) > 0
	})
}

// awaitNone waits until there is nothing left of a shared workbench.
func (b *bench) awaitNone(isThere func() bool) {
	b.t.Helper()
	deadline, again := time.NewTimer(patience), time.NewTicker(10*time.Millisecond)
	defer deadline.Stop()
	defer again.Stop()
	for isThere() {
		select {
		case <-again.C:
		case <-deadline.C:
			b.t.Error("the shared workbench does not end")
			return
		}
	}
}

func (b *bench) checkProcesses(want map[string]int) {
	b.t.Helper()
	for server, count := range want {
		if pids := b.processesOf("server-"+server, "index.js"); len(pids) != count {
			b.t.Errorf("%d processes of %s, want %d", len(pids), server, count)
		}
	}
	if daemons := b.processesOf(" daemon --"); len(daemons) != 1 {
		b.t.Errorf("%d shared workbenches", len(daemons))
	}
}

// Five clients that are alike have three servers, not fifteen, and each hears of its own
// calls only.
func TestFiveClientsShareThreeServers(t *testing.T) {
	b := shareBench(t)
	s := runShared(t, b, "alike")
	s.next("opened")
	b.checkProcesses(map[string]int{"everything": 1, "filesystem": 1, "memory": 1})
	s.goOn()
	seen := s.next("progress").Seen
	if len(seen) != 5 {
		t.Fatalf("%d clients: %+v", len(seen), seen)
	}
	for i, call := range seen {
		want := fmt.Sprintf("Long running operation completed. Duration: 0.5 seconds, Steps: %d.", i+2)
		// The last one may come in one read with the result: see client.mjs.
		if call.Text != want || !reflect.DeepEqual(call.Totals, []int{call.Steps}) || call.Count > call.Steps || call.Count < call.Steps-1 {
			t.Errorf("client %d saw %+v", i+1, call)
		}
	}
	want := []string{"Echo: client 1", "Echo: client 2", "Echo: client 3", "Echo: client 4", "Echo: client 5"}
	if got := s.next("echoes").Texts; !slices.Equal(got, want) {
		t.Errorf("they heard %q", got)
	}
}

// What a server asks reaches the client whose call it belongs to, or nobody; roots are
// those of the client.
func TestQuestionsOfSharedServersDoNotCross(t *testing.T) {
	b := shareBench(t)
	s := runShared(t, b, "asked")
	s.next("opened")
	// Those with the same roots share; the third has its own of the servers that ask for roots.
	b.checkProcesses(map[string]int{"filesystem": 2, "memory": 1})
	s.goOn()
	names := []string{"ada", "bob", "zoe"}
	for i, text := range s.next("roots").Texts {
		if want := []string{"file:///one", "file:///one", "file:///two"}[i]; !strings.Contains(text, want) || strings.Contains(text, "file:///one") != (i < 2) {
			t.Errorf("the roots of %s: %q", names[i], text)
		}
	}
	b.checkProcesses(map[string]int{"everything": 2, "filesystem": 2, "memory": 1})
	s.goOn()
	for _, step := range []string{"at once", "again", "forms"} {
		for i, text := range s.next(step).Texts {
			for j, name := range names {
				if i != j && strings.Contains(text, name) {
					t.Errorf("%s: %s got what %s was asked or said: %q", step, names[i], name, text)
				}
			}
			if own := names[i] + " was asked: "; step == "again" && !strings.Contains(text, own) {
				t.Errorf("%s: %s was not asked: %q", step, names[i], text)
			}
			if step == "forms" && !strings.Contains(text, names[i]) {
				t.Errorf("the form of %s: %q", names[i], text)
			}
		}
	}
}

// Windows of one client in different folders, with different roots, have one process of each
// server that says where it runs and does not ask for roots, and each its own of one that asks.
func TestWindowsInDifferentFoldersShareServers(t *testing.T) {
	root := realTempDir(t)
	all := []server{everythingServer(t), filesystemServer(t, root), memoryServer(t, filepath.Join(root, "memory.jsonl"))}
	for i := range all {
		all[i].dir = "~"
	}
	b := newBench(t, "", box{"all", "Three servers", all})
	b.share()
	s := runShared(t, b, "folders", t.TempDir(), t.TempDir(), t.TempDir())
	if got := s.next("echoes").Texts; !slices.Equal(got, []string{"Echo: window 1", "Echo: window 2", "Echo: window 3"}) {
		t.Errorf("they heard %q", got)
	}
	b.checkProcesses(map[string]int{"filesystem": 3, "memory": 1})
	s.goOn()
}

// Calls from the terminal use the workbench that the configuration shares: a server keeps what it
// has in memory from one to the next.
func TestCallsKeepTheServersOfASharedWorkbench(t *testing.T) {
	root := realTempDir(t)
	b := newBench(t, "", box{"all", "Two servers", []server{everythingServer(t), memoryServer(t, filepath.Join(root, "memory.jsonl"))}})
	b.share()
	text, err := os.ReadFile(b.config)
	if err == nil {
		err = os.WriteFile(b.config, append([]byte(`{"shared": true, `), text[1:]...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.awaitSharedEnd)
	call := func(args ...string) string {
		t.Helper()
		out, err := b.run(append([]string{"--config", b.config, "call"}, args...)...).Output()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, b.stderr)
		}
		return string(out)
	}
	const toggle = "everything/toggle-simulated-logging"
	if first := call(toggle); !strings.Contains(first, "Started") {
		t.Errorf("first: %s", first)
	}
	everything := b.processesOf("server-everything", "index.js")
	if second := call(toggle); !strings.Contains(second, "Stopped") {
		t.Errorf("second: %s", second)
	}
	if alone := call("--alone", toggle); !strings.Contains(alone, "Started") {
		t.Errorf("alone: %s", alone)
	}
	if pids := b.processesOf("server-everything", "index.js"); len(pids) != 1 || !slices.Equal(pids, everything) {
		t.Errorf("processes %v, before %v", pids, everything)
	}
	call("memory/create_entities", `entities:=[{"name":"Ada","entityType":"person","observations":["kept"]}]`)
	if graph := call("memory/read_graph"); !strings.Contains(graph, "kept") {
		t.Errorf("the graph: %s", graph)
	}
	b.checkProcesses(map[string]int{"everything": 1, "memory": 1})
}

// A shared workbench that is killed is started again: a call in flight fails with words
// that say that it may have run, and all clients go on where they were.
func TestClientsGoOnWithoutTheirSharedWorkbench(t *testing.T) {
	b := shareBench(t)
	s := runShared(t, b, "killed")
	s.next("opened")
	daemons := b.processesOf(" daemon --")
	if len(daemons) != 1 {
		t.Fatalf("shared workbenches: %v", daemons)
	}
	if err := syscall.Kill(daemons[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.goOn()
	if text := s.next("flying").Text; !strings.Contains(text, "may have been carried out") {
		t.Errorf("the call in flight: %q", text)
	}
	if got := s.next("echoes").Texts; !slices.Equal(got, []string{"Echo: client 1", "Echo: client 2", "Echo: client 3"}) {
		t.Errorf("they heard %q", got)
	}
	if changes := s.next("changes").Changes; changes < 3 {
		t.Errorf("%d times a client was told to look again", changes)
	}
	s.next("again")
	if again := b.processesOf(" daemon --"); len(again) != 1 || again[0] == daemons[0] {
		t.Errorf("shared workbenches: %v, before %v", again, daemons)
	}
	if pids := b.processesOf("server-everything", "index.js"); len(pids) != 1 {
		t.Errorf("processes of the server that was used: %v", pids)
	}
	s.goOn()
}
