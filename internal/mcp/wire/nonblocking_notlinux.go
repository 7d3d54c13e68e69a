//go:build unix && !linux

package wire

import "syscall"

func readNow(fd uintptr, data []byte) (int, error) { return syscall.Read(int(fd), data) }

func writeNow(fd uintptr, data []byte) (int, error) { return syscall.Write(int(fd), data) }
