//go:build !linux

package sandbox

// There are no sandboxes on this system.

func mayRead(string) bool { return true }

func mayWrite(string) bool { return true }
