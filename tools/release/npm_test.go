//go:build !windows

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// install has npm install packages into a folder, from their files and without a network.
func install(t *testing.T, dir string, packages ...string) {
	t.Helper()
	needs(t, "node", "npm", "npx")
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	output(t, dir, "npm", append([]string{"install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund"}, packages...)...)
}

func bothPackages(t *testing.T) []string {
	t.Helper()
	return []string{
		find(t, "npm-mcp-workbench-"+version(t)+".tgz"),
		find(t, "npm-mcp-workbench-"+here().platform().Key()+"-"+version(t)+".tgz"),
	}
}

func launcherIn(dir string) string {
	return filepath.Join(dir, "node_modules", "mcp-workbench", "launcher.js")
}

func TestNpm(t *testing.T) {
	dir := t.TempDir()
	install(t, dir, bothPackages(t)...)
	t.Run("npx", func(t *testing.T) { checkProgram(t, dir, "npx", "--no-install", "mcp-workbench") })
	t.Run("passed on", func(t *testing.T) { checkPassedOn(t, dir) })
	t.Run("killed", func(t *testing.T) { checkKilled(t, dir) })
}

func checkPassedOn(t *testing.T, dir string) {
	t.Run("an exit code", func(t *testing.T) {
		p := start(t, dir, "node", launcherIn(dir), "--no-such-flag")
		p.line(t, "unknown flag")
		p.ends(t, 2)
	})
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			p := start(t, dir, "node", launcherIn(dir), "serve", "--no-auth", "--listen", "127.0.0.1:0")
			p.line(t, "listening on")
			if err := p.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			p.ends(t, 0)
		})
	}
}

// A launcher that is killed leaves nothing behind. What serves over HTTP does not notice the end of its
// stdin, which stays open here anyway.
func checkKilled(t *testing.T, dir string) {
	tests := map[string][]string{
		"stdio": nil,
		"HTTP":  {"serve", "--no-auth", "--listen", "127.0.0.1:0"},
	}
	for name, args := range tests {
		t.Run(name, func(t *testing.T) {
			p := start(t, dir, "node", append([]string{launcherIn(dir)}, args...)...)
			if args == nil {
				p.initialize(t)
			} else {
				p.line(t, "listening on")
			}
			if err := p.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			p.gone(t)
		})
	}
}

func TestNpmWithoutProgram(t *testing.T) {
	dir := t.TempDir()
	install(t, dir, bothPackages(t)[0])
	p := start(t, dir, "node", launcherIn(dir))
	said := p.line(t, "is not installed")
	if !strings.Contains(said, here().platform().Package()) {
		t.Errorf("it does not name the missing package: %s", said)
	}
	p.ends(t, 1)
}
