package process

import "os"

// Memory returns the resident memory of process trees, in bytes. A process that has exited counts 0; shared memory
// counts for each process.
func Memory(leaders []int) map[int]int64 {
	pids, err := listProcesses()
	if err != nil {
		return nil
	}
	children, resident := make(map[int][]int), make(map[int]int64)
	page := int64(os.Getpagesize())
	for _, pid := range append(pids, os.Getpid()) {
		if s, ok := readStat(pid); ok && s.alive() {
			children[s.parent] = append(children[s.parent], pid)
			resident[pid] = s.pages * page
		}
	}
	sums := make(map[int]int64, len(leaders))
	for _, leader := range leaders {
		todo := []int{leader}
		for len(todo) > 0 {
			pid := todo[len(todo)-1]
			todo = append(todo[:len(todo)-1], children[pid]...)
			sums[leader] += resident[pid]
		}
	}
	return sums
}
