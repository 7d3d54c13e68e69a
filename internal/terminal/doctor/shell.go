package doctor

import (
	"context"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
)

const (
	// shellTime is the time limit for the user's shell to start: its startup files may do anything.
	shellTime = 3 * time.Second
	// maxShellOutput is the size of the shell's output that is read.
	maxShellOutput = 1 << 20
)

// loginShell is the user's shell. Its PATH has more folders than that of a workbench started from a desktop.
type loginShell struct {
	environ  []string
	name     string // "" without one
	patience time.Duration

	once sync.Once
	path string // its PATH; "" if it is unknown
}

func newLoginShell(environ []string) *loginShell {
	s := &loginShell{environ: environ, name: variable(environ, "SHELL"), patience: shellTime}
	if runtime.GOOS == "windows" || !filepath.IsAbs(s.name) {
		s.name = ""
	}
	return s
}

// find returns the path at which the shell finds a command, or "". The first call starts the shell, and takes at most
// shellTime and the end of its processes.
func (s *loginShell) find(ctx context.Context, command string) string {
	if s.name == "" {
		return ""
	}
	s.once.Do(func() { s.path = s.readPath(ctx) })
	return process.LookPath(command, s.path)
}

// readPath returns the PATH of the shell. Its startup files may have printed other lines.
func (s *loginShell) readPath(ctx context.Context) (path string) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	host := process.NewHost(process.HostOptions{})
	defer func() { _ = host.Close(ctx) }() // kills the rest of a shell that hangs
	env, _ := process.Environment(s.environ, process.Inherit{}, []string{"TERM=dumb"})
	// All shells understand this, whatever their syntax of variables.
	child, err := host.Start(process.Spec{Command: s.name, Args: []string{"-lc", "/usr/bin/env"}, Env: env})
	if err != nil {
		return ""
	}
	defer func() { _ = child.Stop(ctx) }()
	_ = child.Stdin().Close() // it must not wait for input
	read := make(chan string, 1)
	go func() { // ends with the output, which Stop closes
		output, _ := io.ReadAll(io.LimitReader(child.Stdout(), maxShellOutput)) // the end of what came before an error counts
		read <- string(output)
	}()
	select {
	case output := <-read:
		return variable(strings.Split(output, "\n"), "PATH")
	case <-ctx.Done():
		return ""
	}
}

// variable returns the value of a variable in "NAME=value" lines; the last one wins.
func variable(lines []string, name string) (value string) {
	for _, line := range lines {
		if text, ok := strings.CutPrefix(line, name+"="); ok {
			value = text
		}
	}
	return value
}

// usualFolders are the folders in which people install programs for themselves, below the home folder or not. Only
// interactive shells have some of them in their PATH.
var usualFolders = []string{
	"/opt/homebrew/bin", "/usr/local/bin", "/home/linuxbrew/.linuxbrew/bin", "/snap/bin",
	"~/.local/bin", "~/bin", "~/.cargo/bin", "~/.bun/bin", "~/.deno/bin", "~/.volta/bin", "~/.npm-global/bin", "~/go/bin",
	"~/.asdf/shims", "~/.local/share/mise/shims", "~/.pyenv/shims", "~/.local/share/pnpm", "~/Library/pnpm",
	"~/.nvm/versions/node/*/bin", "~/.local/share/fnm/node-versions/*/installation/bin",
	"~/.docker/bin", "/Applications/Docker.app/Contents/Resources/bin",
}

// findUsual returns the path of a command in the usual folders, or "". Of several versions it returns the last by name.
func findUsual(home, command string) string {
	for _, folder := range usualFolders {
		if rest, ok := strings.CutPrefix(folder, "~"); ok {
			if home == "" {
				continue
			}
			folder = home + rest
		}
		folders, _ := filepath.Glob(folder) // the patterns are well formed
		for i := len(folders) - 1; i >= 0; i-- {
			if found := process.LookPath(command, folders[i]); found != "" {
				return found
			}
		}
	}
	return ""
}

// needsInterpreter reports whether a program is a script whose interpreter is searched on the PATH, as those of npm
// are. An absolute path alone would not start it.
func needsInterpreter(path string) bool {
	file, _, err := safefile.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	begin := make([]byte, 64)
	n, _ := io.ReadFull(file, begin) // a short file is fine
	return strings.HasPrefix(string(begin[:n]), "#!") && strings.Contains(string(begin[:n]), "/env ")
}
