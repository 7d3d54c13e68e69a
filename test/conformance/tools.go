package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/test/npm"
)

// sdk is the module whose server and client take part.
const sdk = "github.com/modelcontextprotocol/go-sdk"

// oldestNode is the first major version of Node.js that the suite runs on.
const oldestNode = 22

// tools are the programs that take part, by their paths.
type tools struct {
	workbench string
	self      string
	node      string
	suite     string
	npmServer string
	goServer  string
	goClient  string
	scratch   string
	versions  []version
}

// version names a program and which of it was used.
type version struct{ name, number string }

// prepare brings everything onto the machine that is not there yet.
func prepare(ctx context.Context, o orders, scratch string) (*tools, error) {
	folder, err := filepath.Abs(o.folder)
	if err != nil {
		return nil, err
	}
	t := &tools{scratch: scratch}
	if t.workbench, err = filepath.Abs(o.binary); err != nil {
		return nil, err
	}
	if t.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if err := npm.Install(ctx, folder); err != nil {
		return nil, err
	}
	modules := filepath.Join(folder, "node_modules")
	if t.node, err = npm.Node(ctx, folder, oldestNode); err != nil {
		return nil, err
	}
	t.suite = filepath.Join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js")
	t.npmServer = filepath.Join(modules, "@modelcontextprotocol", "server-everything", "dist", "index.js")
	if t.goServer, err = buildSDK(ctx, scratch, "everything-server"); err != nil {
		return nil, err
	}
	if t.goClient, err = buildSDK(ctx, scratch, "everything-client"); err != nil {
		return nil, err
	}
	t.versions, err = versionsOf(ctx, folder)
	return t, err
}

// buildSDK builds a program of the SDK's own conformance tests.
func buildSDK(ctx context.Context, folder, name string) (string, error) {
	path := filepath.Join(folder, name)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", path, sdk+"/conformance/"+name).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", name, err, out)
	}
	return path, nil
}

// versionsOf reads which versions are pinned.
func versionsOf(ctx context.Context, folder string) ([]version, error) {
	text, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		return nil, err
	}
	var pinned struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(text, &pinned); err != nil {
		return nil, fmt.Errorf("package.json: %w", err)
	}
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", sdk).Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m %s: %w", sdk, err)
	}
	const suite, server = "@modelcontextprotocol/conformance", "@modelcontextprotocol/server-everything"
	return []version{
		{suite, pinned.Dependencies[suite]},
		{sdk, strings.TrimSpace(string(out))},
		{server, pinned.Dependencies[server]},
	}, nil
}
