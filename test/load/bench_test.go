package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// This file runs the workbench and the servers below it.

const (
	startTime = 30 * time.Second
	stopTime  = 15 * time.Second
)

// spec is a server that says something before each answer. The answer is the arguments.
const spec = `{"tools": [{"name":"echo","inputSchema":{"type":"object"}}],
 "calls": {"echo": [{"progress": {"progress":1}}]}}`

// servers are what is called, one after the other.
var servers = []string{"lines", "web"}

// bench is a workbench that listens, with a server over stdio and one over HTTP.
type bench struct {
	t       *testing.T
	cmd     *exec.Cmd
	address string
	stderr  *output
	exited  chan error
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "fake.json"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(map[string]any{"toolboxes": map[string]any{"box": map[string]any{"mcpServers": map[string]any{
		"lines": map[string]any{"command": self, "args": []string{filepath.Join(dir, "fake.json")}, "env": map[string]string{roleVariable: "fake"}},
		"web":   map[string]any{"url": webServer(t)},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "workbench-config.json")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, stderr: &output{}, exited: make(chan error, 1)}
	b.cmd = exec.Command(released.Binary(t), "serve", "--listen", "127.0.0.1:0", "--no-auth", "--config", path)
	b.cmd.Dir, b.cmd.Stderr = dir, b.stderr
	b.cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { b.exited <- b.cmd.Wait() }()
	t.Cleanup(b.stop)
	b.address = b.listening()
	return b
}

// webServer is the server over HTTP, in this process; it returns its address.
func webServer(t *testing.T) string {
	t.Helper()
	server, err := mcptest.Parse([]byte(spec))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() { defer close(over); _ = server.ServeStreamable(listener) }()
	t.Cleanup(func() { listener.Close(); <-over })
	return fmt.Sprintf("http://%s/mcp", listener.Addr())
}

var listening = regexp.MustCompile(`listening on (http://\S+)`)

// listening waits until the workbench says where it is.
func (b *bench) listening() string {
	b.t.Helper()
	deadline, again := time.NewTimer(startTime), time.NewTicker(10*time.Millisecond)
	defer deadline.Stop()
	defer again.Stop()
	for {
		if found := listening.FindStringSubmatch(b.stderr.String()); found != nil {
			return found[1]
		}
		select {
		case err := <-b.exited:
			b.exited <- err
			b.t.Fatalf("the workbench ended: %v\n%s", err, b.stderr)
		case <-deadline.C:
			b.t.Fatalf("the workbench does not listen\n%s", b.stderr)
		case <-again.C:
		}
	}
}

// stop ends the workbench, which must end well.
func (b *bench) stop() {
	_ = b.cmd.Process.Signal(syscall.SIGTERM) // it may have ended, which shows below
	overdue := time.AfterFunc(stopTime, func() {
		b.t.Error("the workbench did not end")
		_ = b.cmd.Process.Kill()
	})
	defer overdue.Stop()
	if err := <-b.exited; err != nil {
		b.t.Errorf("the workbench ended with %v\n%s", err, b.stderr)
	}
}

// peak returns the most memory that was resident, in bytes; 0 where nothing tells.
func (b *bench) peak() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kilobytes, _ := strconv.Atoi(strings.Fields(rest)[0]) // the kernel wrote it
			return kilobytes << 10
		}
	}
	return 0
}

// output is what a process printed first.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const outputLimit = 64 << 10

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.text.Len() < outputLimit {
		o.text.Write(p)
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
