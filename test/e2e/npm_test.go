package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/npm"
)

// This file brings the packages of npm onto the machine.

// installed makes node_modules once for all tests; it returns the path of node.
var installed = sync.OnceValues(func() (node string, err error) {
	node, err = exec.LookPath("node")
	if err != nil {
		return "", errors.New("Node.js is not installed: 'node' is not in PATH")
	}
	return node, npm.Install(context.Background(), ".")
})

// needNode returns the path of node, with all packages installed. Without it the test
// is skipped, but on CI, where a skipped test would go unnoticed, it fails.
func needNode(t *testing.T) string {
	t.Helper()
	node, err := installed()
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatalf("the npm peers are needed on CI: %v", err)
	case err != nil:
		t.Skipf("skipped, the npm peers are missing: %v", err)
	}
	return node
}

// npmServer is a server of the reference collection.
func npmServer(t *testing.T, name string, args ...string) server {
	t.Helper()
	node := needNode(t)
	script, err := filepath.Abs(filepath.Join("node_modules", "@modelcontextprotocol", "server-"+name, "dist", "index.js"))
	if err != nil {
		t.Fatal(err)
	}
	return server{name: name, command: node, args: append([]string{script}, args...)}
}

// everythingServer, filesystemServer and memoryServer are the ones that are used.
func everythingServer(t *testing.T) server {
	t.Helper()
	return npmServer(t, "everything", "stdio")
}

func filesystemServer(t *testing.T, root string) server {
	t.Helper()
	return npmServer(t, "filesystem", root)
}

func memoryServer(t *testing.T, file string) server {
	t.Helper()
	s := npmServer(t, "memory")
	s.env = map[string]string{"MEMORY_FILE_PATH": file}
	return s
}

// direct connects to a server without the workbench in between.
func direct(t *testing.T, m *mark, s server) *rawClient {
	t.Helper()
	c := connected(t, m, s)
	c.initialize(newest)
	return c
}

// connected is direct before anything was said.
func connected(t *testing.T, m *mark, s server) *rawClient {
	t.Helper()
	cmd := exec.Command(s.command, s.args...)
	cmd.Env = append(os.Environ(), m.env())
	for name, value := range s.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return dial(t, m, cmd)
}

// realTempDir is a temporary folder without symbolic links in its path: servers
// resolve them, and then name another path than the one they were given.
func realTempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
