//go:build amd64 || arm64

package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/sandbox"
	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// scene is what a hostile server finds: a file that it must not reach, a folder that it may write to, other processes and sockets.
type scene struct {
	t       *testing.T
	outside string // a folder
	victim  string // a file in it
	within  string // the folder that it may write to
	before  os.FileInfo

	process  *Process // of the same user
	tcp, udp string   // addresses that somebody listens on
	unix     string   // likewise
	datagram string
	heard    chan string // what arrived there
}

const victimText = "as it was"

// needSandbox skips a test where the kernel lacks what a sandbox needs. On CI, where that would go unnoticed, the test goes on.
func needSandbox(t *testing.T) {
	t.Helper()
	if gaps := sandbox.Gaps(); len(gaps) > 0 && os.Getenv("CI") == "" {
		t.Skipf("no sandbox here: %s", strings.Join(gaps, "; "))
	}
}

func newScene(t *testing.T) *scene {
	t.Helper()
	needSandbox(t)
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{
		t: t, outside: filepath.Join(base, "outside"), within: filepath.Join(base, "within"), heard: make(chan string, 8),
	}
	s.victim = filepath.Join(s.outside, "victim")
	if err := errors.Join(os.Mkdir(s.outside, 0o755), os.Mkdir(s.within, 0o755), os.WriteFile(s.victim, []byte(victimText), 0o600)); err != nil {
		t.Fatal(err)
	}
	if s.before, err = os.Stat(s.victim); err != nil {
		t.Fatal(err)
	}
	return s
}

// listen opens sockets outside of the sandbox.
func (s *scene) listen() {
	s.t.Helper()
	folder, err := os.MkdirTemp("/tmp", "mcp") // paths of sockets are short
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = os.RemoveAll(folder) })
	s.unix, s.datagram = filepath.Join(folder, "s"), filepath.Join(folder, "d")
	for _, listener := range []struct{ network, address string }{{"tcp", "127.0.0.1:0"}, {"unix", s.unix}} {
		l, err := net.Listen(listener.network, listener.address)
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { _ = l.Close() })
		if listener.network == "tcp" {
			s.tcp = l.Addr().String()
		}
		go func() { // until the listener closes
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				s.hear(listener.network)
				_, _ = c.Read(make([]byte, 8)) // until it has written, or is gone
				_ = c.Close()
			}
		}()
	}
	for _, listener := range []struct{ network, address string }{{"udp", "127.0.0.1:0"}, {"unixgram", s.datagram}} {
		c, err := net.ListenPacket(listener.network, listener.address)
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { _ = c.Close() })
		if listener.network == "udp" {
			s.udp = c.LocalAddr().String()
		}
		go func() { // until it closes
			for {
				if _, _, err := c.ReadFrom(make([]byte, 64)); err != nil {
					return
				}
				s.hear(listener.network)
			}
		}()
	}
}

func (s *scene) hear(what string) {
	select {
	case s.heard <- what:
	default:
	}
}

// bystander starts a process outside of the sandbox.
func (s *scene) bystander(h *Host) string {
	s.t.Helper()
	s.process = start(s.t, h, Spec{Command: ownExecutable, Args: mcptest.RoleArgs("plain", os.DevNull), Env: os.Environ()})
	return fmt.Sprint(s.process.PID())
}

// check fails if anything outside of the folder is not as it was.
func (s *scene) check() {
	s.t.Helper()
	content, err := os.ReadFile(s.victim)
	if err != nil || string(content) != victimText {
		s.t.Errorf("the file has %q (%v)", content, err)
	}
	entries, _ := os.ReadDir(s.outside)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if !slices.Equal(names, []string{"victim"}) {
		s.t.Errorf("the folder has %q", names)
	}
	info, err := os.Stat(s.victim)
	if err == nil && (info.Mode() != s.before.Mode() || !info.ModTime().Equal(s.before.ModTime()) ||
		info.Sys().(*syscall.Stat_t).Ctim != s.before.Sys().(*syscall.Stat_t).Ctim) {
		s.t.Errorf("the file has changed: %v, %v", info.Mode(), info.ModTime())
	}
	if s.process != nil && s.process.Exit() != "still running" {
		s.t.Errorf("the other process %s", s.process.Exit())
	}
	select {
	case what := <-s.heard:
		s.t.Errorf("something arrived by %s", what)
	default:
	}
}

// attempt runs an attempt and returns what it printed.
func attempt(t *testing.T, h *Host, box *Sandbox, name string, args ...string) string {
	t.Helper()
	p, err := h.Start(attackSpec(box, name, args...))
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	output, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Error(err)
	}
	stop(t, p)
	result := strings.TrimSpace(string(output))
	if result == "" {
		result = fmt.Sprintf("%s; it printed %q", p.Exit(), p.StderrTail(5))
	}
	return result
}

// hostileProgram is this binary; a copy of it where its path matters.
var hostileProgram = ownExecutable

// copyProgram makes hostileProgram a copy in a folder that everybody can read. The one of go test may be closed to those who
// are not root, so that nothing can be allowed for it.
func copyProgram(t *testing.T) {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "mcp")
	if err != nil {
		t.Fatal(err)
	}
	from, fromErr := os.Open(ownExecutable)
	to, toErr := os.OpenFile(filepath.Join(folder, "hostile"), os.O_WRONLY|os.O_CREATE, 0o700)
	if err := errors.Join(fromErr, toErr); err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, from.Close(), to.Close()); err != nil {
		t.Fatal(err)
	}
	hostileProgram = to.Name()
	t.Cleanup(func() {
		hostileProgram = ownExecutable
		_ = os.RemoveAll(folder)
	})
}

func attackSpec(box *Sandbox, name string, args ...string) Spec {
	return Spec{
		Command: hostileProgram, Args: mcptest.RoleArgs("attack", append([]string{os.DevNull, name}, args...)...),
		Env: append(os.Environ(), "GORACE=atexit_sleep_ms=0"), Sandbox: box,
	}
}

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
					ReadAll: !row.listed, Write: []string{s.within}, Network: network, Memory: 128 << 20,
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

// TestHostileServerOfNobody tries everything again as a user without rights, if the tests run as root.
func TestHostileServerOfNobody(t *testing.T) {
	needSandbox(t)
	if err := mcptest.AsNobody(t.TempDir(), "^(TestHostileServer|TestSandboxed.*|TestForeignPrograms|TestOlderLandlock)$"); err != nil {
		t.Error(err)
	}
}

// What is not hostile works: files, modes and times in the folder, temporary files, processes, the list of addresses.
func TestSandboxedServerWorks(t *testing.T) {
	copyProgram(t)
	h := newTestHost(t, HostOptions{StateDir: t.TempDir()})
	for _, policy := range []sandbox.Policy{{ReadAll: true}, {}, {ReadAll: true, Network: true}} {
		s := newScene(t)
		policy.Write = []string{s.within}
		if result := attempt(t, h, &Sandbox{Policy: policy, Name: "ordinary"}, "ordinary", s.victim, s.within); result != "done" {
			t.Errorf("%+v: %s", policy, result)
		}
		s.check()
	}
}

// A network lets a server speak TCP and UDP.
func TestSandboxedNetwork(t *testing.T) {
	h := newTestHost(t, HostOptions{})
	s := newScene(t)
	s.listen()
	for name, address := range map[string]string{"tcp": s.tcp, "udp": s.udp, "listen": ""} {
		if result := attempt(t, h, &Sandbox{Policy: sandbox.Policy{ReadAll: true, Network: true}}, name, address); result != "done" {
			t.Errorf("%s: %s", name, result)
		}
	}
}

// Its temporary folder is gone with it, its cache stays, and nobody else has either.
func TestSandboxedFolders(t *testing.T) {
	needSandbox(t)
	state := t.TempDir()
	h := newTestHost(t, HostOptions{StateDir: state})
	p := start(t, h, attackSpec(&Sandbox{Policy: sandbox.Policy{ReadAll: true}, Name: "one"}, "wait", "1"))
	temp, _ := filepath.Glob(filepath.Join(state, boxTempFolder, "*", "*"))
	if len(temp) != 1 || temp[0] != p.box.temp {
		t.Fatalf("temporary folders: %q", temp)
	}
	deep := filepath.Join(p.box.temp, "a", "b")
	if err := errors.Join(os.MkdirAll(deep, 0o700), os.Chmod(deep, 0), os.Chmod(filepath.Dir(deep), 0)); err != nil {
		t.Fatal(err)
	}
	stop(t, p)
	for path, stays := range map[string]bool{p.box.temp: false, filepath.Join(state, boxCacheFolder, "one"): true} {
		if info, err := os.Stat(path); (err == nil) != stays || stays && info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
}

// What a server downloaded is removed 90 days after its last start.
func TestSandboxedCachesEnd(t *testing.T) {
	needSandbox(t)
	state := t.TempDir()
	h := newTestHost(t, HostOptions{StateDir: state})
	old, recent := filepath.Join(state, boxCacheFolder, "old"), filepath.Join(state, boxCacheFolder, "recent")
	for folder, age := range map[string]time.Duration{old: 91 * 24 * time.Hour, recent: 89 * 24 * time.Hour} {
		then := time.Now().Add(-age)
		if err := errors.Join(os.MkdirAll(filepath.Join(folder, "sub"), 0o700), os.Chtimes(folder, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	attempt(t, h, &Sandbox{Policy: sandbox.Policy{ReadAll: true}, Name: "one"}, "read", os.DevNull)
	for folder, stays := range map[string]bool{old: false, recent: true} {
		if _, err := os.Stat(folder); (err == nil) != stays {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

// A kernel with an older Landlock cannot keep all promises: the server does not start, or it says what is open.
func TestOlderLandlock(t *testing.T) {
	needSandbox(t)
	h := newTestHost(t, HostOptions{})
	for _, test := range []struct {
		version, gaps int
		names         string // in the first gap
	}{
		{-1, 1, "no Landlock"}, {1, 4, "moved between folders"}, {2, 3, "cut off"}, {3, 2, "devices"}, {4, 2, "devices"}, {5, 1, "signals"}, {6, 0, ""}, {7, 0, ""},
	} {
		s := newScene(t)
		box := &Sandbox{Policy: sandbox.Policy{ReadAll: true, Write: []string{s.within}, LandlockVersion: test.version}}
		p, err := h.Start(attackSpec(box, "write", s.victim, s.within))
		if err == nil {
			stop(t, p)
		}
		wrong, ok := errors.AsType[*sandbox.Error](err)
		if ok != (test.gaps > 0) || ok && (!strings.Contains(wrong.Message, test.names) || !strings.Contains(wrong.Fix, "bestEffort")) {
			t.Errorf("Landlock %d: %v", test.version, err)
		}
		box.Policy.BestEffort = true
		p = start(t, h, attackSpec(box, "write", s.victim, s.within))
		output, _ := io.ReadAll(p.Stdout())
		stop(t, p)
		if len(p.Gaps()) != test.gaps {
			t.Errorf("Landlock %d: gaps %q", test.version, p.Gaps())
		}
		if test.version > 0 {
			if !strings.HasPrefix(string(output), "refused") {
				t.Errorf("Landlock %d: %s", test.version, output)
			}
			s.check()
		}
		if result := attempt(t, h, box, "unix-pair", s.victim); !strings.HasPrefix(result, "refused") {
			t.Errorf("Landlock %d: the filter does not hold: %s", test.version, result)
		}
	}
}

// What cannot be allowed or executed keeps the server from starting, and says what to do.
func TestSandboxedStartFails(t *testing.T) {
	needSandbox(t)
	h := newTestHost(t, HostOptions{})
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/nowhere/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		command string
		policy  sandbox.Policy
		want    string
	}{
		{"/bin/true", sandbox.Policy{ReadAll: true, Write: []string{"/nowhere/at/all"}}, "'sandbox.write' names /nowhere/at/all, which does not exist"},
		{"/bin/true", sandbox.Policy{Read: []string{"/nowhere/at/all"}}, "'sandbox.read' names"},
		{script, sandbox.Policy{ReadAll: true}, "the interpreter that " + script + " names in its first line was not found"},
		{"/nowhere/program", sandbox.Policy{ReadAll: true}, "there is no /nowhere/program"},
		{"/bin/true", sandbox.Policy{Read: slices.Repeat([]string{t.TempDir()}, 1), ReadAll: true, Write: manyFolders(t)}, "too many paths"},
	} {
		p, err := h.Start(Spec{Command: test.command, Sandbox: &Sandbox{Policy: test.policy}})
		if err == nil {
			stop(t, p)
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.command, err, test.want)
		}
	}
}

func manyFolders(t *testing.T) (folders []string) {
	base := filepath.Join(t.TempDir(), strings.Repeat("a", 250), strings.Repeat("b", 250))
	if err := os.MkdirAll(base, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		folder := filepath.Join(base, fmt.Sprintf("%0200d", i))
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, folder)
	}
	return folders
}

// The guard ends sandboxed servers that try to lose their mark and to kill it, with what they started, and removes their files.
func TestSandboxedServersEndWithTheWorkbench(t *testing.T) {
	needSandbox(t)
	state, r := t.TempDir(), newReport(t)
	cmd := roleCommand("sandboxed-workbench", r.path, state)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for range 2 {
		line, err := lines.ReadString('\n')
		if err != nil || strings.Contains(line, "<nil>") {
			t.Errorf("%q, %v", line, err)
		}
	}
	r.await(mixSize)
	if found, _ := filepath.Glob(filepath.Join(state, boxTempFolder, "*", "*")); len(found) != 2 {
		t.Errorf("temporary folders: %q", found)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	r.allGone()
	eventually(t, "the temporary files are gone", func() bool {
		_, err := os.Stat(filepath.Join(state, boxTempFolder))
		return err != nil
	})
}

// playSandboxedWorkbench runs servers in sandboxes, and prints what one of them says, until it is killed.
func playSandboxedWorkbench(report, state string) {
	h := NewHost(HostOptions{StateDir: state})
	folder := filepath.Dir(report)
	_, err := h.Start(Spec{
		Command: ownExecutable, Args: mcptest.RoleArgs("mix", report), Env: os.Environ(),
		Sandbox: &Sandbox{Policy: sandbox.Policy{ReadAll: true, Write: []string{folder}}},
	})
	must(err)
	p, err := h.Start(attackSpec(&Sandbox{Policy: sandbox.Policy{ReadAll: true}}, "wait", fmt.Sprint(h.platform.guard.pid())))
	must(err)
	_, _ = io.Copy(os.Stdout, p.Stdout())
	must(p.Stop(context.Background()))
}

// Programs of another kind than the system's have other numbers of system calls: they are killed.
func TestForeignPrograms(t *testing.T) {
	needSandbox(t)
	if unix.Access("/bin/true", unix.X_OK) != nil || !isAMD64 {
		t.Skip("no such programs for this processor")
	}
	h := newTestHost(t, HostOptions{})
	for name, program := range foreignPrograms {
		file := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(file, program, 0o700); err != nil {
			t.Fatal(err)
		}
		p := start(t, h, Spec{Command: file})
		awaitDone(t, p)
		plainly := p.Exit()
		stop(t, p)
		p = start(t, h, Spec{Command: file, Sandbox: &Sandbox{Policy: sandbox.Policy{ReadAll: true}}})
		awaitDone(t, p)
		if p.Exit() != "was killed by SIGSYS" || plainly == p.Exit() {
			t.Errorf("%s: %s; without a sandbox it %s", name, p.Exit(), plainly)
		}
		stop(t, p)
	}
}
