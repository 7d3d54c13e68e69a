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
