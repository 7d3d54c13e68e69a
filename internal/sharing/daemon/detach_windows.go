package daemon

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// detached starts a process without a console, so that it does not end with the client's.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}
