package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/sandbox"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// npxTimeout is for npx, which downloads the server first, into a cache that is empty.
const npxTimeout = "3m"

// TestNpxInSandbox starts servers of npm as people do, by npx: those that are installed here without a network, and one that npx
// downloads into the cache that the sandbox gives it.
func TestNpxInSandbox(t *testing.T) {
	w := newSandboxed(t, nil)
	here, err := os.Getwd() // npx finds the packages that are installed here
	if err != nil {
		t.Fatal(err)
	}
	local := func(name string, sandbox map[string]any, args ...string) map[string]any {
		sandbox["network"] = false
		return map[string]any{"command": "npx", "args": append([]string{"-y", "mcp-server-" + name}, args...), "cwd": here, "sandbox": sandbox}
	}
	w.configure(map[string]any{
		"everything": local("everything", map[string]any{}),
		"filesystem": local("filesystem", map[string]any{"read": []string{w.outside}, "write": []string{w.project}}, w.outside, w.project),
		"memory":     w.downloaded("memory"),
	})
	w.works("doctor")
	w.works("call", "npm/memory/create_entities", `{"entities": [{"name": "a", "entityType": "b", "observations": ["c"]}]}`)
	if _, err := os.Stat(filepath.Join(w.project, "memory.json")); err != nil {
		t.Error(err)
	}
	if output := w.works("call", "npm/everything/echo", `{"message": "hello from the sandbox"}`); !strings.Contains(output, "hello from the sandbox") {
		t.Error(output)
	}
	w.works("call", "npm/filesystem/write_file", fmt.Sprintf(`{"path": %q, "content": "text"}`, filepath.Join(w.project, "file")))
	output, err := w.run("call", "npm/filesystem/write_file", fmt.Sprintf(`{"path": %q, "content": "text"}`, filepath.Join(w.outside, "file")))
	if err == nil || !strings.Contains(output, "EACCES") {
		t.Errorf("outside: %v\n%s", err, output)
	}
	if _, err := os.Stat(filepath.Join(w.outside, "file")); err == nil {
		t.Error("it wrote outside")
	}
	w.leftNothing()
}

// TestNpxInSandboxOfNobody is TestNpxInSandbox for a user without rights, if the tests run as root.
func TestNpxInSandboxOfNobody(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("the other test is one of a user without rights")
	}
	w := newSandboxed(t, &syscall.Credential{Uid: 65534, Gid: 65534})
	w.configure(map[string]any{"memory": w.downloaded("memory")})
	w.works("call", "npm/memory/create_entities", `{"entities": [{"name": "a", "entityType": "b", "observations": ["c"]}]}`)
	if _, err := os.Stat(filepath.Join(w.project, "memory.json")); err != nil {
		t.Error(err)
	}
	w.leftNothing()
}

// sandboxed is a workbench with sandboxed servers, in a home folder of its own.
type sandboxed struct {
	t                      *testing.T
	user                   *syscall.Credential
	home, project, outside string
	binary, file           string
}

func newSandboxed(t *testing.T, user *syscall.Credential) *sandboxed {
	t.Helper()
	if gaps := sandbox.Gaps(); len(gaps) > 0 && os.Getenv("CI") == "" {
		t.Skipf("no sandbox here: %s", strings.Join(gaps, "; "))
	}
	needNode(t)
	if _, err := exec.LookPath("npx"); err != nil {
		t.Fatalf("npm is here, but npx is not: %v", err)
	}
	home, err := os.MkdirTemp("/tmp", "mcp-npx") // the folder of a test is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	w := &sandboxed{
		t: t, user: user, home: home, project: filepath.Join(home, "project"), outside: filepath.Join(home, "outside"),
		binary: filepath.Join(home, "mcp-workbench"), file: filepath.Join(home, "config.json"),
	}
	program, err := os.ReadFile(released.Binary(t))
	if err := errors.Join(err, os.Mkdir(w.project, 0o755), os.Mkdir(w.outside, 0o755), os.WriteFile(w.binary, program, 0o755)); err != nil {
		t.Fatal(err)
	}
	return w
}

// downloaded is a server of the reference collection that npx downloads.
func (w *sandboxed) downloaded(name string) map[string]any {
	pkg := "@modelcontextprotocol/server-" + name
	return map[string]any{
		"command": "npx", "args": []string{"-y", pkg + "@" + pinned(w.t)[pkg]}, "timeouts": map[string]any{"connect": npxTimeout},
		"env": map[string]any{"MEMORY_FILE_PATH": filepath.Join(w.project, "memory.json")}, "sandbox": map[string]any{"write": []string{w.project}},
	}
}

func (w *sandboxed) configure(servers map[string]any) {
	w.t.Helper()
	encoded, err := json.Marshal(map[string]any{"toolboxes": map[string]any{"npm": map[string]any{"description": "from npm", "mcpServers": servers}}})
	if err := errors.Join(err, os.WriteFile(w.file, encoded, 0o600)); err != nil {
		w.t.Fatal(err)
	}
	for _, path := range []string{w.home, w.project, w.outside, w.file} {
		if w.user == nil {
			break
		}
		if err := os.Chown(path, int(w.user.Uid), int(w.user.Gid)); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *sandboxed) run(args ...string) (string, error) {
	cmd := exec.Command(w.binary, append([]string{"--config", w.file}, args...)...)
	cmd.Dir = w.project
	cmd.Env = append(os.Environ(), "HOME="+w.home, "XDG_STATE_HOME="+filepath.Join(w.home, "state"), "XDG_RUNTIME_DIR=")
	if w.user != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: w.user}
	}
	output, err := cmd.CombinedOutput()
	return string(output), err
}

func (w *sandboxed) works(args ...string) string {
	w.t.Helper()
	output, err := w.run(args...)
	if err != nil {
		w.t.Fatalf("%v: %v\n%s", args, err, output)
	}
	return output
}

// leftNothing checks that npm used the cache of the server, and that temporary files are gone.
func (w *sandboxed) leftNothing() {
	w.t.Helper()
	state := filepath.Join(w.home, "state", "mcp-workbench")
	for pattern, want := range map[string]bool{
		filepath.Join(w.home, ".npm"): false, filepath.Join(state, "sandbox-temp", "*"): false, filepath.Join(state, "sandbox-cache", "*", "npm", "_npx"): true,
	} {
		if found, _ := filepath.Glob(pattern); (len(found) > 0) != want {
			w.t.Errorf("%s: %q", pattern, found)
		}
	}
}

// pinned returns the versions of the packages that the tests use.
func pinned(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("package.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Dependencies
}
