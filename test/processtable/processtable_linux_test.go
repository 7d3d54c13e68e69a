package processtable

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestChild(t *testing.T) {
	const mark = "PROCESSTABLE_TEST=1"
	cmd := exec.Command("cat")
	cmd.Env = append(os.Environ(), mark)
	if _, err := cmd.StdinPipe(); err != nil { // which keeps it waiting
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	child, ok := Find(cmd.Process.Pid)
	if !ok || !child.Exists() || !child.Lives() {
		t.Errorf("%v is not found or does not live", child)
	}
	if found := Marked(mark); !slices.Equal(found, []Process{child}) {
		t.Errorf("marked are %v", found)
	}
	if !slices.Contains(Below(os.Getpid()), child) || len(Below(child.PID)) != 0 {
		t.Error("the child is not below its parent, or something is below the child")
	}
	if text := child.String(); !strings.HasSuffix(text, ", cat: cat") {
		t.Errorf("described as %q", text)
	}

	if !Alive(child.PID) || Memory(child.PID) == 0 || PeakMemory(child.PID) < Memory(child.PID) || Threads(child.PID) != 1 {
		t.Errorf("alive %v, with %d bytes of at most %d and %d threads", Alive(child.PID), Memory(child.PID), PeakMemory(child.PID), Threads(child.PID))
	}

	child.Kill()
	if err := unix.Waitid(unix.P_PID, child.PID, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if !child.Exists() || child.Lives() || Alive(child.PID) || !slices.Contains(Zombies(os.Getpid()), child) {
		t.Errorf("%v is no zombie", child)
	}
	_ = cmd.Wait() // it was killed
	if child.Exists() {
		t.Errorf("%v is found after its end", child)
	}
	if (Process{PID: os.Getpid(), Born: "another time"}).Exists() {
		t.Error("a process is taken for an earlier one with its id")
	}
}

func TestCPUTime(t *testing.T) {
	own, ok := Find(os.Getpid())
	if !ok {
		t.Fatal("this process is not found")
	}
	for before := own.CPUTime(); own.CPUTime() == before; { // spends some
	}
}
