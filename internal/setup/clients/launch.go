package clients

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// Launch is how a client can start this program from now on.
type Launch struct {
	Command string   // a path, or a package runner
	Runner  []string // arguments of the package runner, up to the name of the workbench
	// Note is what a person should know about it; "" if there is nothing.
	Note string
}

// packageName is the name of the workbench in registries of npm packages.
const packageName = "mcp-workbench"

// OwnLaunch returns how to start this program.
func OwnLaunch() (Launch, error) {
	program, err := os.Executable()
	if err != nil {
		return Launch{}, err
	}
	return launchOf(program, runtime.GOOS, os.TempDir(), func(name string) string {
		found, err := exec.LookPath(name)
		if err != nil || !filepath.IsAbs(found) {
			return ""
		}
		return found
	})
}

// launchOf returns how to start a program. A path found through PATH is preferred if it is the same file: it stays valid when
// a package manager installs a new version elsewhere. A path in a cache does not stay, so the package runner is started
// again.
func launchOf(program, system, temporary string, find func(name string) string) (Launch, error) {
	if isMadeByGoRun(program) {
		return Launch{}, &toolbox.Error{
			Code:    toolbox.ProgramTemporary,
			Message: fmt.Sprintf("A client cannot start the workbench from %s: 'go run' keeps the program there only for a while", program),
			Hint:    "Install it first, such as with 'go install ./cmd/mcp-workbench', and run the command with the installed program.",
		}
	}
	if isInPackageCache(program) {
		return runnerLaunch(system, find), nil
	}
	if found := find("mcp-workbench"); found != "" && isSameFile(program, found) {
		if isInPackageCache(found) {
			return runnerLaunch(system, find), nil
		}
		return Launch{Command: found}, nil
	}
	launch := Launch{Command: program}
	for _, folder := range []string{temporary, "/tmp", "/var/tmp"} {
		if isInside(program, folder) {
			launch.Note = fmt.Sprintf("The workbench is in a folder for temporary files, %s: the client cannot start it any more when the file is gone. Move it to a folder of programs, and connect again.", filepath.Dir(program))
		}
	}
	return launch, nil
}

// runnerLaunch starts the package by npx, or by another runner if only that is installed.
func runnerLaunch(system string, find func(name string) string) Launch {
	words := []string{"npx", "-y", packageName}
	for _, other := range [][]string{{"pnpm", "dlx", packageName}, {"bunx", packageName}} {
		if find(words[0]) == "" && find(other[0]) != "" {
			words = other
		}
	}
	line := strings.Join(words, " ")
	if system == "windows" { // runners are scripts there, which many clients cannot start
		words = append([]string{"cmd", "/c"}, words...)
	}
	return Launch{
		Command: words[0], Runner: words[1:],
		Note: fmt.Sprintf("This program is in the cache of a package runner, which is emptied at times. The client gets '%s' instead of its path.", line),
	}
}

// goRunFolder matches the folders of programs that 'go run' makes: of one run, and of its cache.
var goRunFolder = regexp.MustCompile(`/go-build[0-9]+/b[0-9]+/exe/|/[0-9a-f]{2}/[0-9a-f]{64}-d/`)

func isMadeByGoRun(program string) bool { return goRunFolder.MatchString(slashed(program)) }

// isInPackageCache reports whether a path is in the cache of npx, pnpm dlx, yarn dlx or bunx.
func isInPackageCache(path string) bool {
	parts := strings.Split(strings.ToLower(slashed(path)), "/")
	follows := func(i int, names ...string) bool {
		return len(parts) > i+len(names) && slices.Equal(parts[i+1:i+1+len(names)], names)
	}
	for i, part := range parts {
		switch {
		case part == "_npx", part == "_cacache", part == "dlx", strings.HasPrefix(part, "dlx-"), strings.HasPrefix(part, "bunx-"),
			part == ".bun" && follows(i, "install", "cache"), part == "pnpm" && follows(i, "store"):
			return true
		}
	}
	return false
}

func isInside(path, folder string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && folder != "" && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}

func slashed(path string) string { return strings.ReplaceAll(path, `\`, "/") }
