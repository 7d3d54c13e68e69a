//go:build linux && (amd64 || arm64)

package sandbox

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// instruction is one instruction of a filter: classic BPF, as seccomp runs it before every system call.
type instruction = unix.SockFilter

// Offsets in struct seccomp_data, which the kernel gives a filter.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16
)

func load(offset uint32) []instruction {
	return []instruction{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}}
}

// loadArg loads the lower half of an argument: all of it that the kernel takes of an int.
func loadArg(index uint32) []instruction { return load(offsetArgs + 8*index) }

func result(value uint32) []instruction {
	return []instruction{{Code: unix.BPF_RET | unix.BPF_K, K: value}}
}

func allow() []instruction { return result(unix.SECCOMP_RET_ALLOW) }

func refuse(errno unix.Errno) []instruction {
	return result(unix.SECCOMP_RET_ERRNO | uint32(errno))
}

func mask(bits uint32) []instruction {
	return []instruction{{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: bits}}
}

// when runs then, which ends the filter, if the loaded value compares so; otherwise the filter goes on after it.
func when(comparison uint16, value uint32, then []instruction) []instruction {
	if len(then) > 255 {
		panic("a jump in the filter is too far") // a mistake in this file, which every test would meet
	}
	jump := instruction{Code: unix.BPF_JMP | comparison | unix.BPF_K, K: value, Jf: uint8(len(then))}
	return append([]instruction{jump}, then...)
}

func whenEqual(value uint32, then []instruction) []instruction {
	return when(unix.BPF_JEQ, value, then)
}

// whenAny runs then if the loaded value is one of several.
func whenAny(values []uint32, then []instruction) (all []instruction) {
	for _, value := range values {
		all = append(all, whenEqual(value, then)...)
	}
	return all
}

// newestCall is the newest system call that was looked at for this filter. The kernel says of later ones that it has none:
// programs expect that.
const newestCall = unix.SYS_RSEQ_SLICE_YIELD

// newFilter returns the filter. With a warden, the calls that change modes, owners and times of files are left to it to decide;
// without one, they fail.
func newFilter(network, hasWarden bool) []instruction {
	arch := processor
	kill := result(unix.SECCOMP_RET_KILL_PROCESS)
	metadata := refuse(unix.EPERM)
	if hasWarden {
		metadata = result(unix.SECCOMP_RET_USER_NOTIF)
	}
	filter := slices.Concat(
		load(offsetArch),
		// Programs of another kind, such as those for 32 bits, have other numbers. No number is looked at for them.
		[]instruction{{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: arch.audit, Jt: uint8(len(kill))}}, kill,
		load(offsetNumber),
	)
	if arch.x32 != 0 {
		filter = append(filter, when(unix.BPF_JGE, arch.x32, kill)...)
	}
	return slices.Concat(filter,
		when(unix.BPF_JGT, newestCall, refuse(unix.ENOSYS)),
		whenEqual(unix.SYS_IOCTL, ioctlRules()),
		whenEqual(unix.SYS_CLONE, slices.Concat(
			loadArg(0), when(unix.BPF_JSET, namespaces, refuse(unix.EPERM)), allow())),
		whenEqual(unix.SYS_UNSHARE, slices.Concat(
			loadArg(0), when(unix.BPF_JSET, namespaces|unix.CLONE_NEWTIME, refuse(unix.EPERM)), allow())),
		whenEqual(unix.SYS_SOCKET, socketRules(network)),
		whenEqual(unix.SYS_SOCKETPAIR, pairRules()),
		whenEqual(unix.SYS_PRLIMIT64, limitRules()),
		// A lease on a file that can only be read keeps others from writing to it.
		whenEqual(unix.SYS_FCNTL, slices.Concat(loadArg(1), whenAny([]uint32{unix.F_SETLEASE, setDelegation}, refuse(unix.EPERM)), allow())),
		whenEqual(unix.SYS_OPENAT, modeRules(2, 3)),
		whenEqual(unix.SYS_MKNODAT, modeRules(-1, 2)),
		arch.rules,
		whenAny(slices.Concat(metadataCalls, arch.metadata), metadata),
		whenAny(attributeCalls, refuse(unix.EOPNOTSUPP)),
		// The flags of clone3 and the mode of openat2 are in memory, where a filter cannot see them. Programs use clone and
		// openat instead. Without io_uring, they use the usual calls.
		whenAny([]uint32{unix.SYS_CLONE3, unix.SYS_OPENAT2, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER}, refuse(unix.ENOSYS)),
		whenAny(slices.Concat(closedCalls, arch.closed), refuse(unix.EPERM)),
		allow(),
	)
}

// setDelegation is F_SETDELEG, a lease on a folder.
const setDelegation = 1024 + 16

// namespaces are the flags that make namespaces.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// socketRules allow sockets by family, type and protocol.
func socketRules(network bool) []instruction {
	internet := refuse(unix.EACCES)
	if network {
		// Not raw ones, and no protocol that the kernel would have to load code for.
		byProtocol := slices.Concat(loadArg(2),
			whenAny([]uint32{0, unix.IPPROTO_TCP, unix.IPPROTO_UDP, unix.IPPROTO_MPTCP, unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6}, allow()),
			refuse(unix.EACCES))
		internet = slices.Concat(loadArg(1), mask(socketType),
			whenEqual(unix.SOCK_STREAM, byProtocol), whenEqual(unix.SOCK_DGRAM, byProtocol), refuse(unix.EACCES))
	}
	return slices.Concat(
		loadArg(0),
		whenEqual(unix.AF_INET, internet), whenEqual(unix.AF_INET6, internet),
		whenEqual(unix.AF_UNIX, refuse(unix.EACCES)),
		// Programs list the addresses of the machine with this one. Changing anything needs a capability, and so does
		// sending to another process.
		whenEqual(unix.AF_NETLINK, slices.Concat(loadArg(2), whenEqual(unix.NETLINK_ROUTE, allow()), refuse(unix.EACCES))),
		refuse(unix.EAFNOSUPPORT),
	)
}

// socketType is the part of the type of a socket without flags.
const socketType = 0xf

// pairRules allow pairs of Unix sockets that are connected for good. One end of a pair of datagram sockets could be connected to
// another socket later.
func pairRules() []instruction {
	return slices.Concat(loadArg(0),
		whenEqual(unix.AF_UNIX, slices.Concat(
			loadArg(1), mask(socketType), whenAny([]uint32{unix.SOCK_STREAM, unix.SOCK_SEQPACKET}, allow()), refuse(unix.EACCES))),
		refuse(unix.EACCES))
}

// limitRules keep a process from changing limits of others, and the limit that is the mark by which the guard finds it.
func limitRules() []instruction {
	return slices.Concat(
		loadArg(0), []instruction{{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 0, Jt: 1}}, refuse(unix.EPERM),
		loadArg(1), whenEqual(rlimitLocks, slices.Concat(
			load(offsetArgs+16), []instruction{{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 0, Jt: 1}}, refuse(unix.EPERM),
			load(offsetArgs+20), whenEqual(0, allow()), refuse(unix.EPERM))),
		allow())
}

const rlimitLocks = unix.RLIMIT_LOCKS

// modeRules refuse to create a file that runs as its user or group whoever starts it. mode is the argument that has it; flags is
// that with flags which say whether there is a mode, or -1.
func modeRules(flags int, mode uint32) []instruction {
	rules := slices.Concat(loadArg(mode), when(unix.BPF_JSET, unix.S_ISUID|unix.S_ISGID, refuse(unix.EPERM)), allow())
	if flags < 0 {
		return rules
	}
	const creates = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY
	return slices.Concat(loadArg(uint32(flags)), when(unix.BPF_JSET, creates, rules), allow())
}

// metadataCalls change modes, owners and times. Landlock does not check them.
var metadataCalls = []uint32{
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
}

// attributeCalls change extended attributes, which Landlock does not check either. Programs expect that a file system has none.
var attributeCalls = []uint32{
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
}

// closedCalls look into other processes or the kernel, change the view of the file system, or share memory by a number that
// every process of the user may use. Some need capabilities, which a sandboxed process has not; the filter does not rely on that.
var closedCalls = []uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,

	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,

	unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR,
	unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_OPEN_BY_HANDLE_AT,

	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SHMDT, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMCTL, unix.SYS_SEMTIMEDOP,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
	unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK, unix.SYS_MQ_NOTIFY, unix.SYS_MQ_TIMEDSEND, unix.SYS_MQ_TIMEDRECEIVE, unix.SYS_MQ_GETSETATTR,

	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_NFSSERVCTL, unix.SYS_LOOKUP_DCOOKIE,
}

// installFilter puts the filter in force for this thread, and for what it executes. With a warden, it returns the file
// descriptor by which the warden is asked.
func installFilter(network, hasWarden bool) (warden int, err error) {
	filter := newFilter(network, hasWarden)
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	var flags uintptr
	if hasWarden {
		flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return -1, errno
	}
	if !hasWarden {
		return -1, nil
	}
	return int(fd), nil
}

// architecture is what differs between processors.
type architecture struct {
	audit    uint32 // the kernel's number of it
	x32      uint32 // numbers of calls from here on are of the x32 ABI; 0: there is none
	metadata []uint32
	closed   []uint32
	rules    []instruction
}
