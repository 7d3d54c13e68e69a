package rig

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Process is one entry of the process table, told from later ones with the same id by
// its time of birth.
type Process struct {
	PID, Parent int
	State, Born string
}

func readProcess(pid int) (Process, bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	end := bytes.LastIndexByte(raw, ')')
	if err != nil || end < 0 {
		return Process{}, false
	}
	fields := strings.Fields(string(raw[end+1:]))
	if len(fields) < 20 {
		return Process{}, false
	}
	parent, _ := strconv.Atoi(fields[1]) // the kernel wrote it
	return Process{PID: pid, Parent: parent, State: fields[0], Born: fields[19]}, true
}

func processes() []Process {
	entries, _ := os.ReadDir("/proc") // without it nothing is found, and tests fail
	var all []Process
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			if p, ok := readProcess(pid); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// Marked returns the processes with that entry in their environment.
func Marked(entry string) []Process {
	var found []Process
	for _, p := range processes() {
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID))
		if err == nil && slices.Contains(strings.Split(string(environ), "\x00"), entry) {
			found = append(found, p)
		}
	}
	return found
}

// Below returns all descendants of a process.
func Below(root int) []Process {
	all := processes()
	family := map[int]bool{root: true}
	var found []Process
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if family[p.Parent] && !family[p.PID] {
				family[p.PID], grown = true, true
				found = append(found, p)
			}
		}
	}
	return found
}

// Lives reports whether the process still runs; a zombie does not.
func (p Process) Lives() bool {
	now, ok := readProcess(p.PID)
	return ok && now.Born == p.Born && now.State != "Z" && now.State != "X"
}

func (p Process) String() string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID)) // it may be gone
	now, _ := readProcess(p.PID)
	return fmt.Sprintf("pid %d, parent %d, state %s: %s", p.PID, now.Parent, now.State,
		strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " ")))
}

// Kill ends a process that a test started and that should have been gone.
func (p Process) Kill() {
	if p.Lives() {
		_ = syscall.Kill(p.PID, syscall.SIGKILL) // it may be gone by now
	}
}

// slackVariable is how many times longer than a limit says is waited: 1 to hold the
// workbench to its times, on a machine that does nothing else.
const slackVariable = "FAULTS_SLACK"

// slack tells a busy machine, where all is late, from a fault, where nothing comes.
var slack = sync.OnceValue(func() time.Duration {
	if n, err := strconv.Atoi(os.Getenv(slackVariable)); err == nil && n > 0 {
		return time.Duration(n)
	}
	return 4
})

// Eventually asks again and again until there is no error, or the time is over.
func Eventually(limit time.Duration, try func() error) error {
	deadline := time.Now().Add(limit * slack())
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := try()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		<-ticker.C
	}
}
