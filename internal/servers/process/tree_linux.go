package process

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Tree returns a process and all that it started, parents first. It is empty if the process has exited.
func Tree(leader int) []TreeProcess {
	pids, err := listProcesses()
	if err != nil {
		return nil
	}
	children, alive := make(map[int][]int), make(map[int]stat)
	for _, pid := range pids {
		if s, ok := readStat(pid); ok && s.alive() {
			children[s.parent] = append(children[s.parent], pid)
			alive[pid] = s
		}
	}
	var tree []TreeProcess
	page := int64(os.Getpagesize())
	for todo := []int{leader}; len(todo) > 0 && len(tree) < maxTree; todo = todo[1:] {
		s, ok := alive[todo[0]]
		if !ok {
			continue
		}
		tree = append(tree, TreeProcess{PID: todo[0], Parent: s.parent, Name: readName(todo[0]), Memory: s.pages * page})
		next := children[todo[0]]
		slices.Sort(next)
		todo = append(todo, next...)
	}
	return tree
}

// readName returns the name of a process's program. The process chooses it.
func readName(pid int) string {
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)) // "" if it has exited
	return strings.TrimSuffix(string(name), "\n")
}
