//go:build unix && (!linux || race)

package wire

import "syscall"

// The race detector has to see what is read and written.

func readNow(fd uintptr, data []byte) (int, error) { return syscall.Read(int(fd), data) }

func writeNow(fd uintptr, data []byte) (int, error) { return syscall.Write(int(fd), data) }
