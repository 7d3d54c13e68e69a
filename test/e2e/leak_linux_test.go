package e2e

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// This file reads the process table.

// stat is what /proc/PID/stat says of a process.
type stat struct {
	process
	parent  int
	state   string
	command string
}

func readStat(pid int) (stat, bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, false
	}
	// The command is in brackets, and may hold brackets and spaces itself.
	before, after := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if before < 0 || after < before {
		return stat{}, false
	}
	fields := strings.Fields(string(raw[after+1:]))
	if len(fields) < 20 {
		return stat{}, false
	}
	parent, _ := strconv.Atoi(fields[1])
	return stat{
		process: process{pid, fields[19]}, parent: parent,
		state: fields[0], command: string(raw[before+1 : after]),
	}, true
}

func processes() []stat {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []stat
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			if s, ok := readStat(pid); ok {
				all = append(all, s)
			}
		}
	}
	return all
}

// marked returns the processes with that entry in their environment.
func marked(entry string) []process {
	var found []process
	for _, s := range processes() {
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", s.pid))
		if err == nil && slices.Contains(strings.Split(string(environ), "\x00"), entry) {
			found = append(found, s.process)
		}
	}
	return found
}

// below returns the process and all its descendants.
func below(root int) []process {
	all := processes()
	family := map[int]bool{root: true}
	for grown := true; grown; {
		grown = false
		for _, s := range all {
			if family[s.parent] && !family[s.pid] {
				family[s.pid], grown = true, true
			}
		}
	}
	var found []process
	for _, s := range all {
		if family[s.pid] {
			found = append(found, s.process)
		}
	}
	return found
}

func exists(p process) bool {
	s, ok := readStat(p.pid)
	return ok && s.process == p
}

func describe(p process) string {
	s, _ := readStat(p.pid)
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
	return fmt.Sprintf("pid %d, parent %d, state %s, %s: %s", p.pid, s.parent, s.state, s.command,
		strings.ReplaceAll(string(line), "\x00", " "))
}

// end kills a process that a test started and that should have been gone.
func end(p process) {
	if exists(p) {
		_ = syscall.Kill(p.pid, syscall.SIGKILL) // it may be gone by now
	}
}
