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
	"strings"
	"syscall"
	"testing"

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
