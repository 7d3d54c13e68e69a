//go:build amd64 || arm64

package process

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attempts are what the hostile server tries, by name. Each returns why it failed, nil if it succeeded. The arguments are
// those of the test: a path, an address, a process.
var attempts = map[string]func(args []string) error{
	"write":           func(args []string) error { return overwrite(args[0]) },
	"create":          func(args []string) error { return os.WriteFile(filepath.Join(args[0], "new"), nil, 0o600) },
	"truncate":        func(args []string) error { return unix.Truncate(args[0], 0) },
	"open-truncating": func(args []string) error { return opened(args[0], os.O_RDONLY|os.O_TRUNC) },
	"unlink":          func(args []string) error { return os.Remove(args[0]) },
	"rename-in":       func(args []string) error { return os.Rename(args[0], filepath.Join(args[1], "stolen")) },
	"rename-out": func(args []string) error {
		planted := filepath.Join(args[1], "planted")
		return errors.Join(os.WriteFile(planted, []byte("planted"), 0o600), os.Rename(planted, filepath.Join(filepath.Dir(args[0]), "planted")))
	},
	"rename-over": func(args []string) error {
		planted := filepath.Join(args[1], "planted")
		return errors.Join(os.WriteFile(planted, []byte("planted"), 0o600), os.Rename(planted, args[0]))
	},
	"exchange": func(args []string) error {
		planted := filepath.Join(args[1], "planted")
		return errors.Join(os.WriteFile(planted, []byte("planted"), 0o600),
			unix.Renameat2(unix.AT_FDCWD, planted, unix.AT_FDCWD, args[0], unix.RENAME_EXCHANGE))
	},
	"hard-link": func(args []string) error {
		link := filepath.Join(args[1], "link")
		return errors.Join(os.Link(args[0], link), overwrite(link))
	},
	"symbolic-link": func(args []string) error {
		link := filepath.Join(args[1], "link")
		return errors.Join(os.Symlink(args[0], link), overwrite(link))
	},
	"folder-link": func(args []string) error {
		link := filepath.Join(args[1], "link")
		return errors.Join(os.Symlink(filepath.Dir(args[0]), link), overwrite(filepath.Join(link, filepath.Base(args[0]))))
	},
	"dot-dot":       func(args []string) error { return overwrite(upTo(args[0], args[1])) },
	"procfs-root":   func(args []string) error { return overwrite("/proc/self/root" + args[0]) },
	"procfs-thread": func(args []string) error { return overwrite("/proc/thread-self/root" + args[0]) },
	"reopen":        func(args []string) error { return reopen(args[0]) },
	"mkdir":         func(args []string) error { return os.Mkdir(filepath.Join(args[0], "new"), 0o700) },
	"mkfifo":        func(args []string) error { return unix.Mkfifo(filepath.Join(args[0], "new"), 0o600) },
	"symlink":       func(args []string) error { return os.Symlink("/", filepath.Join(args[0], "new")) },

	"chmod":  func(args []string) error { return os.Chmod(args[0], 0o777) },
	"fchmod": func(args []string) error { return fromOpen(args[0], func(f *os.File) error { return f.Chmod(0o777) }) },
	"chmod-link": func(args []string) error {
		link := filepath.Join(args[1], "link")
		return errors.Join(os.Symlink(args[0], link), os.Chmod(link, 0o777))
	},
	"chmod-procfs": func(args []string) error {
		return fromOpen(args[0], func(f *os.File) error { return os.Chmod(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), 0o777) })
	},
	"fchmodat2": func(args []string) error {
		return call(unix.SYS_FCHMODAT2, ^uintptr(99), text(args[0]), 0o777, unix.AT_SYMLINK_NOFOLLOW)
	},
	"setuid-bit": func(args []string) error {
		planted := filepath.Join(args[1], "planted")
		if err := os.WriteFile(planted, nil, 0o700); err != nil {
			return nil //nolint:nilerr // the test would see that nothing was refused
		}
		return os.Chmod(planted, 0o755|os.ModeSetuid)
	},
	"chown":        func(args []string) error { return os.Chown(args[0], os.Getuid(), os.Getgid()) },
	"lchown":       func(args []string) error { return os.Lchown(args[0], -1, os.Getgid()) },
	"utimes":       func(args []string) error { return os.Chtimes(args[0], time.Unix(1, 0), time.Unix(1, 0)) },
	"setxattr":     func(args []string) error { return unix.Setxattr(args[0], "user.note", []byte("x"), 0) },
	"attributes":   func(args []string) error { return setFlags(args[0]) },
	"file-version": func(args []string) error { return command(args[0], 0x40086604) }, // EXT4_IOC_SETVERSION
	"subvolume":    func(args []string) error { return command(filepath.Dir(args[0]), 0x5000940e) },
	"lease": func(args []string) error {
		return fromOpen(args[0], func(f *os.File) error { _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK); return err })
	},
	"create-setuid": func(args []string) error {
		return closedFD(unix.Open(filepath.Join(args[1], "new"), unix.O_CREAT|unix.O_RDWR, 0o4755))
	},
	"create-setuid-2": func(args []string) error {
		return closedFD(unix.Openat2(unix.AT_FDCWD, filepath.Join(args[1], "new"), &unix.OpenHow{Flags: unix.O_CREAT | unix.O_RDWR, Mode: 0o4755}))
	},
	"create-setuid-unnamed": func(args []string) error {
		return closedFD(unix.Open(args[1], unix.O_TMPFILE|unix.O_RDWR, 0o2755))
	},
	"make-setuid": func(args []string) error { return unix.Mknod(filepath.Join(args[1], "new"), unix.S_IFREG|0o4755, 0) },
	"read":        func(args []string) error { return readFile(args[0]) },
	"read-link":   func(args []string) error { return readThroughLink(args[0], args[1]) },
	"read-procfs": func(args []string) error { return readFile("/proc/self/root" + args[0]) },
	"list":        func(args []string) error { _, err := os.ReadDir(args[0]); return err },

	"kill":       func(args []string) error { return unix.Kill(number(args[0]), unix.SIGKILL) },
	"kill-group": func(args []string) error { return unix.Kill(-number(args[0]), unix.SIGKILL) },
	"tgkill":     func(args []string) error { return unix.Tgkill(number(args[0]), number(args[0]), unix.SIGKILL) },
	"pidfd-signal": func(args []string) error {
		return withPidfd(args[0], func(fd int) error { return unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) })
	},
	"sigqueue": func(args []string) error {
		info := [128]byte{0: byte(unix.SIGKILL), 8: 0xff, 9: 0xff, 10: 0xff, 11: 0xff}
		return call(unix.SYS_RT_SIGQUEUEINFO, uintptr(number(args[0])), uintptr(unix.SIGKILL), uintptr(unsafe.Pointer(&info)), 0)
	},
	"ptrace":          func(args []string) error { return unix.PtraceAttach(number(args[0])) },
	"ptrace-seize":    func(args []string) error { return unix.PtraceSeize(number(args[0])) },
	"read-memory":     func(args []string) error { return touchMemory(unix.SYS_PROCESS_VM_READV, args) },
	"write-memory":    func(args []string) error { return touchMemory(unix.SYS_PROCESS_VM_WRITEV, args) },
	"procfs-memory":   func(args []string) error { return opened("/proc/"+args[0]+"/mem", os.O_RDWR) },
	"procfs-environ":  func(args []string) error { return readFile("/proc/" + args[0] + "/environ") },
	"procfs-files":    func(args []string) error { return readFile("/proc/" + args[0] + "/fd/0") },
	"procfs-its-root": func(args []string) error { _, err := os.ReadDir("/proc/" + args[0] + "/root/"); return err },
	"procfs-maps":     func(args []string) error { return readFile("/proc/" + args[0] + "/maps") },
	"steal-file": func(args []string) error {
		return withPidfd(args[0], func(fd int) error { _, err := unix.PidfdGetfd(fd, 0, 0); return err })
	},
	"limit-other": func(args []string) error {
		return unix.Prlimit(number(args[0]), unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	},
	"lose-mark": func([]string) error {
		return unix.Setrlimit(unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: 7, Max: unix.RLIM_INFINITY})
	},

	"tcp":         func(args []string) error { return dial("tcp", args[0]) },
	"udp":         func(args []string) error { return dial("udp", args[0]) },
	"dns":         askName,
	"listen":      func([]string) error { return closed(net.Listen("tcp", "127.0.0.1:0")) },
	"raw":         func([]string) error { return socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP) },
	"raw-6":       func([]string) error { return socket(unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6) },
	"packet":      func([]string) error { return socket(unix.AF_PACKET, unix.SOCK_RAW, 0) },
	"sctp":        func([]string) error { return socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP) },
	"vsock":       func([]string) error { return socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0) },
	"kernel-keys": func([]string) error { return socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0) },
	"netlink": func([]string) error {
		return socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT)
	},
	"unix":          func(args []string) error { return dial("unix", args[0]) },
	"unix-datagram": func(args []string) error { return dial("unixgram", args[0]) },
	"unix-pair":     func(args []string) error { return sendFromPair(args[0]) },
	"unix-listen": func(args []string) error {
		if err := os.Chdir(args[1]); err != nil { // paths of sockets are short
			return nil //nolint:nilerr // the test would see that nothing was refused
		}
		return closed(net.Listen("unix", "own.sock"))
	},

	"io-uring": func([]string) error {
		params := [120]byte{}
		return call(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params)), 0, 0)
	},
	"bpf":         func([]string) error { return call(unix.SYS_BPF, 0, 0, 0, 0) },
	"userfaultfd": func([]string) error { return call(unix.SYS_USERFAULTFD, 1, 0, 0, 0) },
	"keyctl":      func([]string) error { return call(unix.SYS_KEYCTL, 0, ^uintptr(2), 0, 0) },
	"perf":        func([]string) error { return call(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0, 0) },
	"namespace":   func([]string) error { return unix.Unshare(unix.CLONE_NEWUSER) },
	"clone-namespace": func([]string) error {
		pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if errno != 0 {
			return errno
		}
		if pid == 0 {
			unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
		}
		return nil
	},
	"clone3":         func([]string) error { return call(unix.SYS_CLONE3, 0, 0, 0, 0) },
	"setns":          func([]string) error { return call(unix.SYS_SETNS, 0, 0, 0, 0) },
	"mount":          func(args []string) error { return unix.Mount("none", args[1], "tmpfs", 0, "") },
	"chroot":         func(args []string) error { return unix.Chroot(args[1]) },
	"open-by-handle": func([]string) error { return call(unix.SYS_OPEN_BY_HANDLE_AT, 0, 0, 0, 0) },
	"type-ahead":     func([]string) error { return call(unix.SYS_IOCTL, 0, unix.TIOCSTI, text("x"), 0) },
	"shared-memory": func([]string) error {
		id, _, errno := unix.Syscall(unix.SYS_SHMGET, 0, 4096, 0o1600)
		if errno != 0 {
			return errno
		}
		return call(unix.SYS_SHMCTL, id, 0, 0, 0) // removes it
	},
	"message-queue": func([]string) error {
		name := fmt.Sprintf("mcp-hostile-%d", os.Getpid())
		return errors.Join(call(unix.SYS_MQ_OPEN, text(name), unix.O_CREAT|unix.O_RDWR, 0o600, 0), call(unix.SYS_MQ_UNLINK, text(name), 0, 0, 0))
	},

	"disk":     func([]string) error { return opened(anyDevice(), os.O_RDONLY) },
	"terminal": func([]string) error { return opened("/dev/tty", os.O_RDWR) },
	"memory": func([]string) error {
		_, err := unix.Mmap(-1, 0, 2<<30, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		return err
	},
	"raise-memory": func([]string) error {
		return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY})
	},
	"dump-core": func([]string) error {
		return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: 1 << 20, Max: 1 << 20})
	},
	"inherited":    func([]string) error { return hasInherited() },
	"capabilities": func([]string) error { return hasCapabilities() },

	// What a server does that is not hostile.
	"ordinary": ordinary,
}

// playAttack makes one attempt and prints how it went.
func playAttack(name string, args []string) int {
	if name == "wait" { // to be ended with everything that it started
		for _, attempt := range []string{"lose-mark", "kill"} {
			fmt.Println(attempt, attempts[attempt](args))
		}
		pauseForEver()
	}
	if err := attempts[name](args); err != nil {
		fmt.Println("refused:", err)
		return 0
	}
	fmt.Println("done")
	return 0
}

func number(text string) int { n, err := strconv.Atoi(text); must(err); return n }

func text(s string) uintptr {
	b, err := unix.BytePtrFromString(s)
	must(err)
	kept = append(kept, b)
	return uintptr(unsafe.Pointer(b))
}

var kept []*byte // what addresses were given of

func call(number, a, b, c, d uintptr) error {
	_, _, errno := unix.Syscall6(number, a, b, c, d, 0, 0)
	if errno == 0 || errno == unix.EFAULT || errno == unix.EINVAL || errno == unix.EBADF || errno == unix.ESRCH {
		return nil // it was looked at
	}
	return errno
}

func opened(path string, flags int) error { return closed(os.OpenFile(path, flags, 0)) }

func closed[T io.Closer](c T, err error) error {
	if err != nil {
		return err
	}
	return c.Close()
}

func overwrite(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteString("overwritten")
	return err
}

func upTo(path, from string) string {
	up, err := filepath.Rel(from, path)
	must(err)
	return from + "/" + up
}

func reopen(path string) error {
	return fromOpen(path, func(f *os.File) error { return overwrite(fmt.Sprintf("/proc/self/fd/%d", f.Fd())) })
}

func fromOpen(path string, do func(*os.File) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return do(file)
}

func readFile(path string) error { _, err := os.ReadFile(path); return err }

func readThroughLink(path, folder string) error {
	link := filepath.Join(folder, "link")
	return errors.Join(os.Symlink(path, link), readFile(link))
}

func setFlags(path string) error {
	return fromOpen(path, func(f *os.File) error {
		flags := 0x40 // no dump
		return call(unix.SYS_IOCTL, f.Fd(), unix.FS_IOC_SETFLAGS, uintptr(unsafe.Pointer(&flags)), 0)
	})
}

func withPidfd(pid string, do func(fd int) error) error {
	fd, err := unix.PidfdOpen(number(pid), 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return do(fd)
}

// touchMemory reads or writes where every process of this binary has its first page.
func touchMemory(how uintptr, args []string) error {
	buffer := make([]byte, 4)
	local := unix.Iovec{Base: &buffer[0]}
	local.SetLen(len(buffer))
	address, err := strconv.ParseUint(args[1], 16, 64)
	must(err)
	remote := unix.RemoteIovec{Base: uintptr(address), Len: len(buffer)}
	_, _, errno := unix.Syscall6(how, uintptr(number(args[0])), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func dial(network, address string) error {
	c, err := net.Dial(network, address)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Write([]byte("hello"))
	return err
}

// askName sends a question to a name server, as a resolver does.
func askName(args []string) error { return dial("udp", args[0]) }

func socket(domain, kind, protocol int) error {
	fd, err := unix.Socket(domain, kind, protocol)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// sendFromPair sends to a socket by its path, from one end of a pair.
func sendFromPair(path string) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	return unix.Sendto(pair[0], []byte("hello"), 0, &unix.SockaddrUnix{Name: path})
}

// anyDevice is a device that is neither a file nor harmless, and that every user may open.
func anyDevice() string {
	for _, path := range []string{"/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/kvm", "/dev/fuse", "/dev/ptmx", "/dev/rtc0", "/dev/mem"} {
		if opened(path, os.O_RDONLY) == nil {
			return path
		}
	}
	return "/dev/ptmx"
}

func hasCapabilities() error {
	status, err := os.ReadFile("/proc/self/status")
	must(err)
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
		isNone := strings.Trim(value, "0") == ""
		if slices.Contains([]string{"CapInh", "CapPrm", "CapEff", "CapAmb"}, name) && !isNone ||
			name == "CapBnd" && os.Getuid() == 0 && !isNone || name == "NoNewPrivs" && value != "1" {
			return nil
		}
	}
	return errors.New("it has none")
}

// hasInherited looks for an open file that could lead out: the line to the workbench, or the descriptor by which the kernel asks it.
func hasInherited() error {
	entries, err := os.ReadDir("/proc/self/fd")
	must(err)
	for _, entry := range entries {
		target, _ := os.Readlink("/proc/self/fd/" + entry.Name())
		if strings.HasPrefix(target, "socket:") || strings.Contains(target, "seccomp") || strings.Contains(target, "memfd") {
			return nil
		}
	}
	return errors.New("there is none")
}
