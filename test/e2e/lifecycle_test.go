package e2e

import (
	"fmt"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/processtable"
)

// This file is about ends. That nothing is left is checked after every test here; these
// tests bring about the ends that the others do not.

// stopLimit is within which time the workbench has to be gone.
const stopLimit = 20 * time.Second

// busyBench has three servers of npm, one of them behind another process and at work.
func busyBench(t *testing.T) *rawClient {
	t.Helper()
	p := newTap(t)
	folder, memory := realTempDir(t), filepath.Join(t.TempDir(), "memory.jsonl")
	b := newBench(t, "", box{"all", "", []server{
		p.around(everythingServer(t)), filesystemServer(t, folder), memoryServer(t, memory),
	}})
	c := b.client(newest)
	c.open("all")
	c.begin("tools/call", fmt.Sprintf(`{"name":"use_tool","arguments":%s,"_meta":{"progressToken":1}}`,
		useArguments("all", "everything", "trigger-long-running-operation", `{"duration":60,"steps":600}`)))
	if m := c.nextMessage(); m.Method != "notifications/progress" {
		t.Fatalf("the first message is %+v", m)
	}
	b.mark.record(c.cmd.Process.Pid)
	return c
}

func TestEndOfInputWhileAServerWorks(t *testing.T) {
	t.Parallel()
	c := busyBench(t)
	begun := time.Now()
	if err := c.close(); err != nil {
		t.Errorf("the workbench ended with %v", err)
	}
	if took := time.Since(begun); took > stopLimit {
		t.Errorf("it took %s", took)
	}
}

func TestSignalWhileAServerWorks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals on Windows")
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			c := busyBench(t)
			begun := time.Now()
			if err := c.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if err := c.wait(); err != nil {
				t.Errorf("the workbench ended with %v", err)
			}
			if took := time.Since(begun); took > stopLimit {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// TestKilledWorkbench leaves the clean-up to what outlives it: the check after the
// test is the test.
func TestKilledWorkbench(t *testing.T) {
	t.Parallel()
	c := busyBench(t)
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.wait(); err == nil {
		t.Error("a killed process ended well")
	}
}

// TestServersStartWhenTheyAreNeeded: none runs before its toolbox is opened.
func TestServersStartWhenTheyAreNeeded(t *testing.T) {
	t.Parallel()
	b := newBench(t, "", box{"one", "", []server{fakeServer("")}}, box{"two", "", []server{fakeServer("")}})
	c := b.client(newest)
	c.request("tools/list", "{}")
	before := len(processtable.Marked(b.mark.env()))
	c.open("one")
	after := len(processtable.Marked(b.mark.env()))
	if runtime.GOOS == "linux" && (before != 1 || after != 2) {
		t.Errorf("%d processes before the toolbox was opened and %d after it, want 1 and 2", before, after)
	}
	c.open("one")
	if again := len(processtable.Marked(b.mark.env())); again != after {
		t.Errorf("opening it again made %d processes of %d", again, after)
	}
}
