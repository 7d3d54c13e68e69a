package e2e

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/processtable"
)

// TestLeakCheckSeesProcesses: a check that finds nothing proves nothing by itself.
func TestLeakCheckSeesProcesses(t *testing.T) {
	t.Parallel()
	m := newMark(t)
	cmd := exec.Command(mcptest.Self(), mcptest.RoleArgs(roleFake)...)
	cmd.Env = append(os.Environ(), m.env())
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
	running, ok := processtable.Find(cmd.Process.Pid)
	if !ok || !slices.Contains(processtable.Below(os.Getpid()), running) {
		t.Error("the process is not found below this one")
	}
	if !slices.Equal(m.left(), []processtable.Process{running}) {
		t.Error("the process is not found by its mark")
	}
	// It ends, and stays a zombie until it is waited for.
	stdin.Close()
	if _, err := stdout.Read(make([]byte, 1)); err == nil {
		t.Error("the process printed something")
	}
	if !slices.Equal(m.left(), []processtable.Process{running}) {
		t.Error("the zombie is not found")
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if left := m.left(); len(left) > 0 {
		t.Errorf("%v is found after its end", left)
	}
}
