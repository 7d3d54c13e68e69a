// Package processtable finds the processes that a test started, and says what they use. It
// reads /proc as Linux has it; where there is none, it finds nothing.
package processtable

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Process is told from a later one with the same id by its time of birth.
type Process struct {
	PID  int
	Born string
}

// entry is what the table says of a process now.
type entry struct {
	Process
	parent  int
	state   string
	command string
	used    time.Duration
}

func (e entry) isZombie() bool { return e.state == "Z" || e.state == "X" }

func read(pid int) (entry, bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The command is in brackets, and may hold brackets and spaces itself.
	before, after := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if err != nil || before < 0 || after < before {
		return entry{}, false
	}
	fields := strings.Fields(string(raw[after+1:]))
	if len(fields) < 20 {
		return entry{}, false
	}
	parent, _ := strconv.Atoi(fields[1]) // the kernel wrote these
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	const tick = 10 * time.Millisecond
	return entry{
		Process: Process{PID: pid, Born: fields[19]}, parent: parent,
		state: fields[0], command: string(raw[before+1 : after]), used: time.Duration(user+system) * tick,
	}, true
}

func all() []entry {
	folders, _ := os.ReadDir("/proc")
	var found []entry
	for _, folder := range folders {
		if pid, err := strconv.Atoi(folder.Name()); err == nil {
			if e, ok := read(pid); ok {
				found = append(found, e)
			}
		}
	}
	return found
}

// Find returns the process with that id, which may be a zombie.
func Find(pid int) (Process, bool) {
	e, ok := read(pid)
	return e.Process, ok
}

// Marked returns the processes with that entry, NAME=value, in their environment. Zombies
// have none.
func Marked(variable string) []Process {
	var found []Process
	for _, e := range all() {
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", e.PID))
		if err == nil && slices.Contains(strings.Split(string(environ), "\x00"), variable) {
			found = append(found, e.Process)
		}
	}
	return found
}

// Below returns all descendants of a process, with zombies.
func Below(root int) []Process {
	entries := all()
	family := map[int]bool{root: true}
	var found []Process
	for grown := true; grown; {
		grown = false
		for _, e := range entries {
			if family[e.parent] && !family[e.PID] {
				family[e.PID], grown = true, true
				found = append(found, e.Process)
			}
		}
	}
	return found
}

// Zombies returns the children of a process that it has not waited for.
func Zombies(parent int) []Process {
	var found []Process
	for _, e := range all() {
		if e.parent == parent && e.isZombie() {
			found = append(found, e.Process)
		}
	}
	return found
}

// Exists reports whether the process is in the table, be it as a zombie.
func (p Process) Exists() bool {
	now, ok := read(p.PID)
	return ok && now.Process == p
}

// Lives reports whether the process still runs.
func (p Process) Lives() bool {
	now, ok := read(p.PID)
	return ok && now.Process == p && !now.isZombie()
}

// CommandLine is the program with its arguments; "" if the process is gone.
func (p Process) CommandLine() string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
	return strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
}

func (p Process) String() string {
	now, _ := read(p.PID)
	return fmt.Sprintf("pid %d, parent %d, state %s, %s: %s", p.PID, now.parent, now.state, now.command, p.CommandLine())
}

// Kill ends a process that a test started and that should have been gone.
func (p Process) Kill() {
	if !p.Lives() {
		return
	}
	if running, err := os.FindProcess(p.PID); err == nil {
		_ = running.Kill() // it may be gone by now
	}
}

// CPUTime is the CPU time that the process has used, which other processes do not change.
func (p Process) CPUTime() time.Duration {
	now, _ := read(p.PID)
	return now.used
}
