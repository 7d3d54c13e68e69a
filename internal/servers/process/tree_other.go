//go:build !linux

package process

// Tree returns the process alone: its descendants are not known on this system.
func Tree(leader int) []TreeProcess { return []TreeProcess{{PID: leader}} }
