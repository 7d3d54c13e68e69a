package sandbox

import (
	"slices"

	"golang.org/x/sys/unix"
)

// processor is what is particular about 64-bit x86-64.
var processor = architecture{
	audit: unix.AUDIT_ARCH_X86_64,
	x32:   0x40000000,
	metadata: []uint32{
		unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
	},
	closed: []uint32{
		unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS, unix.SYS__SYSCTL,
		unix.SYS_CREATE_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_QUERY_MODULE, unix.SYS_KEXEC_FILE_LOAD,
	},
	rules: slices.Concat(
		whenEqual(unix.SYS_SETRLIMIT, slices.Concat(loadArg(0), whenEqual(rlimitLocks, refuse(unix.EPERM)), allow())),
		whenEqual(unix.SYS_OPEN, modeRules(1, 2)),
		whenEqual(unix.SYS_CREAT, modeRules(-1, 1)),
		whenEqual(unix.SYS_MKNOD, modeRules(-1, 1)),
	),
}

func init() {
	for number, c := range map[int]*change{
		unix.SYS_CHMOD:     {folder: -1, path: 0, flags: -1, mode: 1, owner: -1},
		unix.SYS_CHOWN:     {folder: -1, path: 0, flags: -1, mode: -1, owner: 1},
		unix.SYS_LCHOWN:    {folder: -1, path: 0, flags: -1, mode: -1, owner: 1, noFollow: true},
		unix.SYS_UTIME:     {folder: -1, path: 0, flags: -1, mode: -1, owner: -1, times: wholeTimes, timesAt: 1},
		unix.SYS_UTIMES:    {folder: -1, path: 0, flags: -1, mode: -1, owner: -1, times: timevals, timesAt: 1},
		unix.SYS_FUTIMESAT: {folder: 0, path: 1, flags: -1, mode: -1, owner: -1, times: timevals, timesAt: 2},
	} {
		changes[number] = c
	}
}
