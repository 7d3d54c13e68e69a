//go:build amd64 || arm64

package process

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/sandbox"
)

// hostility is one row: what is tried, and whether it works without a sandbox, so that the attempt itself is known to be good.
type hostility struct {
	name string
	// needs is what the test gives it besides the file and the folder: "process", "tcp", "udp", "unix", "datagram", "folder".
	needs string
	// harmless attempts are made without a sandbox, too, and have to succeed.
	control bool
	// network attempts fail although there is a network.
	network bool
	// listed attempts fail if what can be read is listed; otherwise they are allowed.
	listed bool
}

var hostilities = []hostility{
	{name: "write", control: true},
	{name: "create", needs: "folder", control: true},
	{name: "truncate", control: true},
	{name: "open-truncating", control: true},
	{name: "unlink", control: true},
	{name: "rename-in", control: true},
	{name: "rename-out", control: true},
	{name: "rename-over", control: true},
	{name: "exchange", control: true},
	{name: "hard-link", control: true},
	{name: "symbolic-link", control: true},
	{name: "folder-link", control: true},
	{name: "dot-dot", control: true},
	{name: "procfs-root", control: true},
	{name: "procfs-thread", control: true},
	{name: "reopen", control: true},
	{name: "mkdir", needs: "folder", control: true},
	{name: "mkfifo", needs: "folder", control: true},
	{name: "symlink", needs: "folder", control: true},

	{name: "chmod", control: true},
	{name: "fchmod", control: true},
	{name: "chmod-link", control: true},
	{name: "chmod-procfs", control: true},
	{name: "fchmodat2", control: true},
	{name: "setuid-bit", control: true},
	{name: "chown", control: true},
	{name: "lchown", control: true},
	{name: "utimes", control: true},
	{name: "setxattr"},
	{name: "attributes"},
	{name: "file-version"},
	{name: "subvolume"},
	{name: "lease", control: true},
	{name: "create-setuid", control: true},
	{name: "create-setuid-2", control: true},
	{name: "create-setuid-unnamed", control: true},
	{name: "make-setuid", control: true},

	{name: "read", listed: true, control: true},
	{name: "read-link", listed: true, control: true},
	{name: "read-procfs", listed: true, control: true},
	{name: "list", needs: "folder", listed: true, control: true},

	{name: "kill", needs: "process", control: true},
	{name: "kill-group", needs: "process", control: true},
	{name: "tgkill", needs: "process", control: true},
	{name: "pidfd-signal", needs: "process", control: true},
	{name: "sigqueue", needs: "process"},
	{name: "ptrace", needs: "process"},
	{name: "ptrace-seize", needs: "process", control: true},
	{name: "read-memory", needs: "process", control: true},
	{name: "write-memory", needs: "process"},
	{name: "procfs-memory", needs: "process", control: true},
	{name: "procfs-environ", needs: "process", control: true},
	{name: "procfs-files", needs: "process"},
	{name: "procfs-its-root", needs: "process", control: true},
	{name: "procfs-maps", needs: "process", control: true},
	{name: "steal-file", needs: "process", control: true},
	{name: "limit-other", needs: "process", control: true},
	{name: "lose-mark", control: true},

	{name: "tcp", needs: "tcp", control: true},
	{name: "udp", needs: "udp", control: true},
	{name: "dns", needs: "udp", control: true},
	{name: "listen", control: true},
	{name: "raw", network: true},
	{name: "raw-6", network: true},
	{name: "packet", network: true},
	{name: "sctp", network: true},
	{name: "vsock", network: true},
	{name: "kernel-keys", network: true},
	{name: "netlink", network: true, control: true},
	{name: "unix", needs: "unix", network: true, control: true},
	{name: "unix-datagram", needs: "datagram", network: true, control: true},
	{name: "unix-pair", needs: "datagram", network: true, control: true},
	{name: "unix-listen", network: true, control: true},

	{name: "io-uring", control: true},
	{name: "bpf"},
	{name: "userfaultfd"},
	{name: "keyctl", control: true},
	{name: "perf"},
	{name: "namespace"},
	{name: "clone-namespace"},
	{name: "clone3", control: true},
	{name: "setns"},
	{name: "mount"},
	{name: "chroot"},
	{name: "open-by-handle"},
	{name: "type-ahead"},
	{name: "shared-memory", control: true},
	{name: "message-queue", control: true},

	{name: "disk"},
	{name: "terminal"},
	{name: "memory", control: true},
	{name: "raise-memory", control: true},
	{name: "dump-core"},
	{name: "capabilities", control: true},
	{name: "inherited"},
}

// TestHostileServer tries everything as the user who runs the tests.
func TestHostileServer(t *testing.T) {
	copyProgram(t)
	h := newTestHost(t, HostOptions{StateDir: t.TempDir()})
	for _, row := range hostilities {
		for _, network := range []bool{false, true} {
			if network && !row.network {
				continue
			}
			t.Run(fmt.Sprintf("%s/network=%v", row.name, network), func(t *testing.T) {
				s := newScene(t)
				box := &Sandbox{Policy: sandbox.Policy{
					ReadAll: !row.listed, Write: []string{s.within}, Network: network, Memory: 1 << 30, // room for the race detector
				}}
				if row.name != "memory" && row.name != "raise-memory" {
					box.Policy.Memory = 0
				}
				result := attempt(t, h, box, row.name, row.arguments(s, h)...)
				if !strings.HasPrefix(result, "refused: ") {
					t.Errorf("it was not refused: %s", result)
				}
				s.check()
			})
		}
		if row.control && !testing.Short() {
			t.Run(row.name+"/without", func(t *testing.T) {
				s := newScene(t)
				s.t = t
				if result := attempt(t, h, nil, row.name, row.arguments(s, h)...); result != "done" && !isUnprivileged(row.name) {
					t.Errorf("the attempt is no good: %s", result)
				}
			})
		}
	}
}

// isUnprivileged reports whether an attempt may fail for those who are not root.
func isUnprivileged(name string) bool {
	return os.Getuid() != 0 && slices.Contains([]string{"io-uring", "capabilities", "limit-other"}, name)
}

// arguments prepares what an attempt needs.
func (row hostility) arguments(s *scene, h *Host) []string {
	args := []string{s.victim, s.within}
	switch row.needs {
	case "folder":
		args[0] = s.outside
	case "process":
		args[0] = s.bystander(h)
		args[1] = fmt.Sprintf("%x", uintptr(unsafe.Pointer(unsafe.StringData(victimText)))&^4095)
		if row.name == "read-memory" || row.name == "write-memory" {
			args[1] = firstPage(s.t)
		}
	case "tcp", "udp", "unix", "datagram":
		s.listen()
		args[0] = map[string]string{"tcp": s.tcp, "udp": s.udp, "unix": s.unix, "datagram": s.datagram}[row.needs]
	}
	return args
}

// firstPage returns the address of the program's own code, which is the same in each of its processes.
func firstPage(t *testing.T) string {
	t.Helper()
	file, err := os.Open("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	line, err := bufio.NewReader(file).ReadString('-')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(line, "-")
}

// command gives a file system a command about a file that can only be read.
func command(path string, number uintptr) error {
	return fromOpen(path, func(f *os.File) error {
		argument := [4096]byte{8: 'x'}
		err := call(unix.SYS_IOCTL, f.Fd(), number, uintptr(unsafe.Pointer(&argument)), 0)
		if errors.Is(err, unix.ENOTTY) {
			return nil // another file system would have done it
		}
		return err
	})
}

func closedFD(fd int, err error) error {
	if err != nil {
		return err
	}
	return unix.Close(fd)
}
