package diff

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// link is the client's way to the other side: lines out, lines in.
type link interface {
	// send returns when the other side has the message, as far as the transport can tell.
	send(text string)
	// received yields what comes, and is closed after close.
	received() <-chan []byte
	close()
}

// stdioLink speaks with a process that it started.
type stdioLink struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan []byte
}

func dialStdio(t *testing.T, cmd *exec.Cmd) link {
	t.Helper()
	l := &stdioLink{t: t, cmd: cmd, lines: make(chan []byte, 1024)}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if l.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the output, which close makes sure of
		defer close(l.lines)
		reader := bufio.NewReaderSize(stdout, 1<<16)
		for {
			text, err := reader.ReadBytes('\n')
			if err != nil {
				return
			}
			l.lines <- bytes.TrimSuffix(text, []byte("\n"))
		}
	}()
	return l
}

func (l *stdioLink) send(text string) {
	l.t.Helper()
	if _, err := io.WriteString(l.stdin, text+"\n"); err != nil {
		l.t.Fatalf("could not send: %v", err)
	}
}

func (l *stdioLink) received() <-chan []byte { return l.lines }

func (l *stdioLink) close() {
	l.stdin.Close()
	overdue := time.AfterFunc(patience, func() {
		l.t.Errorf("process %d did not end", l.cmd.Process.Pid)
		l.cmd.Process.Kill()
	})
	defer overdue.Stop()
	for range l.lines {
	}
	_ = l.cmd.Wait() // servers that others wrote may exit as they like
}

// workbenchCommand is a workbench in direct mode with one server, as the configuration writes it.
func workbenchCommand(t *testing.T, server map[string]any, arguments ...string) *exec.Cmd {
	t.Helper()
	return workbenchInMode(t, "direct", server, arguments...)
}

func workbenchInMode(t *testing.T, mode string, server map[string]any, arguments ...string) *exec.Cmd {
	t.Helper()
	folder := t.TempDir()
	text, err := json.Marshal(map[string]any{
		"toolMode":  mode,
		"toolboxes": map[string]any{toolboxName: map[string]any{"description": "", "mcpServers": map[string]any{"fake": server}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "workbench-config.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(released.Binary(t), append(arguments, "--config", path)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(folder, "state"))
	return cmd
}

// toolboxName is the only toolbox there is.
const toolboxName = "box"

// told hands what the workbench logs on line by line.
type told struct {
	tap  func(text string)
	rest []byte
}

func (l *told) Write(text []byte) (int, error) {
	l.rest = append(l.rest, text...)
	for {
		whole, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok {
			return len(text), nil
		}
		l.rest = rest
		l.tap(string(whole))
	}
}
