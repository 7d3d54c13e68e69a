//go:build !linux

package process

// runName names the run in paths. There are no sandboxes on this system.
func (*platform) runName() string { return "" }
