//go:build unix && !linux

package process

// forbidReading does nothing: these systems have no such call.
func forbidReading() {}

// setCloseOnExec keeps children from inheriting file descriptors that this process inherited.
func setCloseOnExec() { setEachCloseOnExec("/dev/fd") }
