//go:build !linux

package process

// Memory would return the resident memory of processes with all that they started; it is
// not known on this system.
func Memory([]int) map[int]int64 { return nil }
