package released

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Bounds. Nothing waits for them unless something is wrong.
const (
	startTime = 30 * time.Second
	stopTime  = 15 * time.Second
)

// Workbench is one that serves over HTTP.
type Workbench struct {
	Address string
	PID     int
	Stderr  *Output

	t      *testing.T
	cmd    *exec.Cmd
	exited chan error
}

// Serve starts a workbench in a folder, with a configuration that is written there as
// JSON. It asks nobody for a token.
func Serve(t *testing.T, folder string, configuration any) *Workbench {
	t.Helper()
	content, err := json.Marshal(configuration)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "workbench-config.json")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(Binary(t), "serve", "--listen", "127.0.0.1:0", "--no-auth", "--config", path)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+folder, "XDG_CONFIG_HOME="+folder)
	return Start(t, cmd)
}

// Start starts a workbench that serves over HTTP, by a command that is ready but for its
// output. When the test ends it is stopped, and has to end well.
func Start(t *testing.T, cmd *exec.Cmd) *Workbench {
	t.Helper()
	w := &Workbench{Stderr: &Output{}, t: t, cmd: cmd, exited: make(chan error, 1)}
	cmd.Stderr = w.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.PID = cmd.Process.Pid
	go func() { w.exited <- cmd.Wait() }()
	t.Cleanup(w.stop)
	w.Address = w.listening()
	return w
}

var listening = regexp.MustCompile(`listening on (https?://\S+)`)

// listening waits until the workbench says where it is.
func (w *Workbench) listening() string {
	w.t.Helper()
	deadline, again := time.NewTimer(startTime), time.NewTicker(10*time.Millisecond)
	defer deadline.Stop()
	defer again.Stop()
	for {
		if found := listening.FindStringSubmatch(w.Stderr.String()); found != nil {
			return found[1]
		}
		select {
		case err := <-w.exited:
			w.exited <- err
			w.t.Fatalf("the workbench ended: %v\n%s", err, w.Stderr)
		case <-deadline.C:
			w.t.Fatalf("the workbench does not listen\n%s", w.Stderr)
		case <-again.C:
		}
	}
}

func (w *Workbench) stop() {
	_ = w.cmd.Process.Signal(syscall.SIGTERM) // it may have ended, which shows below
	overdue := time.AfterFunc(stopTime, func() {
		w.t.Error("the workbench did not end")
		_ = w.cmd.Process.Kill()
	})
	defer overdue.Stop()
	if err := <-w.exited; err != nil {
		w.t.Errorf("the workbench ended with %v\n%s", err, w.Stderr)
	}
}

// Output is what a process printed first.
type Output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const outputLimit = 64 << 10

func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.text.Len() < outputLimit {
		o.text.Write(p)
	}
	return len(p), nil
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
