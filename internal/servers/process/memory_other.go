//go:build !linux

package process

// Memory returns nil: the resident memory of process trees is not available on this system.
func Memory([]int) map[int]int64 { return nil }
