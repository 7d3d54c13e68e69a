package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is the deadline of every single wait; nothing here comes near it.
const patience = 2 * time.Minute

// distVariable names a snapshot to test; without it, the tests make one of this platform.
const distVariable = "RELEASE_DIST"

var made struct {
	once sync.Once
	dir  string
	temp bool
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if made.temp {
		os.RemoveAll(made.dir)
	}
	os.Exit(code)
}

func here() target { return target{runtime.GOOS, runtime.GOARCH} }

// root is the repository.
func root(t *testing.T) string {
	t.Helper()
	dir, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// dist is a folder with the packages, at least of this platform.
func dist(t *testing.T) string {
	t.Helper()
	made.once.Do(func() {
		if made.dir = os.Getenv(distVariable); made.dir != "" {
			return
		}
		if made.dir, made.err = os.MkdirTemp("", "release-dist-"); made.err != nil {
			return
		}
		made.temp = true
		var s *source
		if s, made.err = readSource(context.Background(), root(t)); made.err == nil {
			made.err = snapshot(context.Background(), s, made.dir, []string{here().String()})
		}
	})
	if made.err != nil {
		t.Fatal(made.err)
	}
	return made.dir
}

// find is the one file of the snapshot that a pattern means.
func find(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dist(t), pattern))
	if err != nil || len(files) != 1 {
		t.Fatalf("%s: %v, %v", pattern, files, err)
	}
	return files[0]
}

// needs skips a test on a machine without a program. In CI nothing is skipped.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err == nil {
			continue
		}
		if os.Getenv("CI") != "" {
			t.Fatalf("there is no %s, which CI must have", name)
		}
		t.Skipf("there is no %s", name)
	}
}

// cleanEnv is an environment in which nothing of the machine's user is found.
func cleanEnv(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home,
		"npm_config_update_notifier=false", "npm_config_cache=" + filepath.Join(home, "npm-cache"),
	}
}

// output runs a program in a clean environment.
func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, cleanEnv(dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// version is the one that the snapshot's programs must say.
func version(t *testing.T) string {
	t.Helper()
	name := filepath.Base(find(t, "*_checksums.txt"))
	return strings.TrimSuffix(strings.TrimPrefix(name, "mcp-workbench_"), "_checksums.txt")
}

// checkProgram checks that an installed workbench is this version, and serves MCP.
func checkProgram(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	if got, want := output(t, dir, name, append(args, "--version")...), "mcp-workbench "+version(t)+"\n"; got != want {
		t.Errorf("--version says '%s', not '%s'", got, want)
	}
	p := start(t, dir, name, args...)
	p.initialize(t)
	if err := p.stdin.Close(); err != nil {
		t.Error(err)
	}
	p.ends(t, 0)
}

// running is a started workbench. Its stdout ends when every process that holds it has ended.
type running struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan string
}

func start(t *testing.T, dir, name string, args ...string) *running {
	t.Helper()
	p := &running{cmd: exec.Command(name, args...), lines: make(chan string, 16)}
	p.cmd.Dir, p.cmd.Env = dir, cleanEnv(dir)
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// One pipe for both, so that reading them to the end is waiting for all who hold them.
	p.cmd.Stdout, p.cmd.Stderr = writer, writer
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(p.lines)
		scanner := bufio.NewScanner(reader)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			p.lines <- scanner.Text()
		}
	}()
	t.Cleanup(func() {
		p.stdin.Close()
		_ = p.cmd.Process.Kill()
		reader.Close()
		for range p.lines { // lets the reader end
		}
		<-done
		_ = p.cmd.Wait()
	})
	return p
}

// line waits for a line that holds a text.
func (p *running) line(t *testing.T, text string) string {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				t.Fatalf("it ended before it said '%s'", text)
			}
			if strings.Contains(line, text) {
				return line
			}
		case <-deadline:
			t.Fatalf("it did not say '%s'", text)
		}
	}
}

func (p *running) initialize(t *testing.T) {
	t.Helper()
	const request = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"release-test","version":"1"}}}`
	if _, err := io.WriteString(p.stdin, request+"\n"); err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Result struct {
			ServerInfo struct{ Name, Version string }
		}
	}
	if err := json.Unmarshal([]byte(p.line(t, `"jsonrpc"`)), &answer); err != nil {
		t.Fatal(err)
	}
	if got := answer.Result.ServerInfo; got.Name == "" || got.Version != version(t) {
		t.Errorf("it says that it is %+v, not version %s", got, version(t))
	}
}

// gone waits until no process holds the output any more.
func (p *running) gone(t *testing.T) {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case _, ok := <-p.lines:
			if !ok {
				return
			}
		case <-deadline:
			t.Fatal("a process was left behind")
		}
	}
}

// ends waits for the end of it all, with this exit code.
func (p *running) ends(t *testing.T, code int) {
	t.Helper()
	p.gone(t)
	_ = p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("it ended with %s, not with exit code %d", p.cmd.ProcessState, code)
	}
}
