package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// This file configures workbenches.

// server is one entry of 'mcpServers'.
type server struct {
	name    string
	command string
	args    []string
	env     map[string]string
	dir     string // where it runs; "": nothing is said of it
	url     string // instead of a command: the server is there already
}

// playedServer is a server that this test binary plays.
func playedServer(name, role string) server {
	return server{name: name, command: mcptest.Self(), args: mcptest.RoleArgs(role), env: map[string]string{}}
}

// box is one toolbox. Slices, not maps: the order of the file is part of the contract.
type box struct {
	name, description string
	servers           []server
}

// bench is a configured workbench. Its command may be started more than once.
type bench struct {
	t      *testing.T
	mark   *mark
	binary string
	config string // path of the file
	state  string // where it keeps what outlives it: never the user's own folder
	stderr *tail

	overHTTP bool      // clients come over HTTP
	served   *exec.Cmd // then: the one process that serves them all
	address  string    // and where it listens
	sockets  string    // folder of the sockets of a workbench that clients share; "": the user's
	more     []string  // of its environment
}

// newBench writes a configuration; mode may be empty.
func newBench(t *testing.T, mode string, boxes ...box) *bench {
	t.Helper()
	b := &bench{t: t, binary: released.Binary(t), state: t.TempDir(), stderr: &tail{}}
	b.config = filepath.Join(t.TempDir(), "workbench-config.json")
	b.mark = newMark(t)
	if err := os.WriteFile(b.config, configuration(t, b.mark, mode, boxes), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("stderr of the workbench:\n%s", b.stderr)
		}
	})
	return b
}

func configuration(t *testing.T, m *mark, mode string, boxes []box) []byte {
	t.Helper()
	text := func(value any) []byte {
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	var out bytes.Buffer
	out.WriteString("{")
	if mode != "" {
		fmt.Fprintf(&out, `"toolMode": %s, `, text(mode))
	}
	out.WriteString(`"toolboxes": {`)
	for i, b := range boxes {
		if i > 0 {
			out.WriteString(", ")
		}
		fmt.Fprintf(&out, `%s: {"description": %s, "mcpServers": {`, text(b.name), text(b.description))
		for j, s := range b.servers {
			if j > 0 {
				out.WriteString(", ")
			}
			if s.url != "" {
				fmt.Fprintf(&out, "\n%s: {\"url\": %s}", text(s.name), text(s.url))
				continue
			}
			// Servers inherit only a short environment, so the mark is named here.
			env := map[string]string{markVariable: m.id}
			for name, value := range s.env {
				env[name] = value
			}
			fmt.Fprintf(&out, "\n%s: {\"command\": %s, \"args\": %s, \"env\": %s",
				text(s.name), text(s.command), text(append([]string{}, s.args...)), text(env))
			if s.dir != "" {
				fmt.Fprintf(&out, ", \"cwd\": %s", text(s.dir))
			}
			out.WriteString("}")
		}
		out.WriteString("}}")
	}
	out.WriteString("}}\n")
	return out.Bytes()
}

// environ is the environment that a workbench, or a client that starts it, is given.
func (b *bench) environ() []string {
	environ := append(os.Environ(), b.mark.env(), "XDG_STATE_HOME="+b.state, "XDG_CONFIG_HOME="+b.state)
	if b.sockets != "" {
		environ = append(environ, "XDG_RUNTIME_DIR="+b.sockets)
	}
	return append(environ, b.more...)
}

// command is the workbench, ready to be started by a client.
func (b *bench) command() *exec.Cmd {
	return b.run("--config", b.config, "--log-level", "info")
}

// run is a command of the workbench that talks over stdin and stdout.
func (b *bench) run(args ...string) *exec.Cmd {
	cmd := exec.Command(b.binary, args...)
	cmd.Env, cmd.Dir, cmd.Stderr = b.environ(), b.state, b.stderr
	return cmd
}

// tail keeps the end of what a process prints, for the log of a test that failed.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailSize = 16 << 10

func (b *tail) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	if extra := len(b.text) - tailSize; extra > 0 {
		b.text = b.text[extra:]
	}
	return len(p), nil
}

func (b *tail) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}

// awaitStderr waits until the workbench has written what a pattern finds: a line may still be
// on its way when the answer that it belongs to is there.
func (b *bench) awaitStderr(pattern *regexp.Regexp) []string {
	b.t.Helper()
	deadline, again := time.NewTimer(patience), time.NewTicker(5*time.Millisecond)
	defer deadline.Stop()
	defer again.Stop()
	for {
		if found := pattern.FindStringSubmatch(b.stderr.String()); found != nil {
			return found
		}
		select {
		case <-again.C:
		case <-deadline.C:
			b.t.Fatalf("the workbench has not written %s", pattern)
		}
	}
}
