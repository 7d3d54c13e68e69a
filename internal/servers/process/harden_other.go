//go:build unix && !linux

package process

// forbidReading does nothing where there is no such call.
func forbidReading() {}

// keepDescriptors keeps files that we inherited from being inherited further.
func keepDescriptors() { keepEachDescriptor("/dev/fd") }
