package sandbox

import (
	"slices"

	"golang.org/x/sys/unix"
)

// processor is what is particular about 64-bit ARM.
var processor = architecture{
	audit:  unix.AUDIT_ARCH_AARCH64,
	closed: []uint32{unix.SYS_KEXEC_FILE_LOAD},
	rules:  whenEqual(unix.SYS_SETRLIMIT, slices.Concat(loadArg(0), whenEqual(rlimitLocks, refuse(unix.EPERM)), allow())),
}
