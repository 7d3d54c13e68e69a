//go:build !windows

package safefile

// whileBusy runs an operation once: here, files can be replaced while others read them.
func whileBusy(operation func() error) error { return operation() }
