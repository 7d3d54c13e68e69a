// Package npm installs packages from npm for tests.
package npm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

const installTime = 5 * time.Minute

// Install makes the node_modules of a folder by its package-lock.json, unless it is there
// for this very lock file.
func Install(ctx context.Context, folder string) error {
	lock, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return err
	}
	installed := filepath.Join(folder, "node_modules", ".installed-lock")
	if have, err := os.ReadFile(installed); err == nil && bytes.Equal(have, lock) {
		return nil
	}
	program, err := exec.LookPath("npm")
	if err != nil {
		return errors.New("'npm' is not in PATH: install Node.js")
	}
	ctx, cancel := context.WithTimeout(ctx, installTime)
	defer cancel()
	// No script of a package is run: none of them needs one.
	ci := exec.CommandContext(ctx, program, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	ci.Dir = folder
	if out, err := ci.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return os.WriteFile(installed, lock, 0o600)
}

// Node returns a Node.js of at least a major version: the system's, or the one that the folder's package.json has as
// the optional package node-SYSTEM-ARCHITECTURE.
func Node(ctx context.Context, folder string, oldest int) (string, error) {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	candidates := []string{filepath.Join(folder, "node_modules", "node-"+runtime.GOOS+"-"+arch, "bin", "node")}
	if path, err := exec.LookPath("node"); err == nil {
		candidates = append([]string{path}, candidates...)
	}
	for _, path := range candidates {
		out, err := exec.CommandContext(ctx, path, "--version").Output()
		if err != nil {
			continue
		}
		major, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
		if number, err := strconv.Atoi(major); err == nil && number >= oldest {
			return filepath.Abs(path)
		}
	}
	return "", fmt.Errorf("a Node.js of version %d or newer is needed: install it so that 'node' is in PATH", oldest)
}
