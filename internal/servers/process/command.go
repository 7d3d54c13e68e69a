package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// maxShownPath bounds how much of PATH an error quotes, in bytes.
const maxShownPath = 600

// findCommand finds the executable of a spec. It searches the child's PATH, since version managers often give a server
// a different PATH than the workbench has.
func findCommand(spec Spec) (string, error) {
	if spec.Command == "" {
		return "", errors.New("no command given")
	}
	if err := checkDir(spec.Dir); err != nil {
		return "", err
	}
	if filepath.Base(spec.Command) != spec.Command {
		path, err := findFile(spec)
		return path, commandError(spec.Command, "", err)
	}
	searched := childPath(spec.Env)
	path, err := searchPath(spec.Command, searched)
	return path, commandError(spec.Command, searched, err)
}

// Find returns the executable of a spec with links resolved.
func Find(spec Spec) (string, error) {
	path, err := findCommand(spec)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// CommandError means that a command cannot be run: it does not exist or is not executable.
type CommandError struct {
	Command string
	Path    string // the PATH that was searched; "" if the command is a path itself
	err     error
}

func commandError(command, path string, err error) error {
	if err == nil {
		return nil
	}
	return &CommandError{Command: command, Path: path, err: err}
}

func (e *CommandError) Error() string { return e.err.Error() }

// Unwrap returns the error of the system; exec.ErrNotFound or fs.ErrNotExist if the command does not exist.
func (e *CommandError) Unwrap() error { return e.err }

// LookPath returns the path of a command found on a PATH, or "".
func LookPath(command, path string) string {
	found, err := searchPath(command, path)
	if err != nil {
		return ""
	}
	return found
}

func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return plain(err, "working directory %q does not exist", dir)
	case err != nil:
		return fmt.Errorf("working directory %q cannot be used: %w", dir, err)
	case !info.IsDir():
		return fmt.Errorf("working directory %q is not a directory", dir)
	}
	return nil
}

// findFile resolves a command that is a path. It returns an absolute path, because Unix resolves a relative one after
// the change of directory, and Windows before it.
func findFile(spec Spec) (string, error) {
	path := spec.Command
	if !filepath.IsAbs(path) && spec.Dir != "" {
		path = filepath.Join(spec.Dir, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", startError(spec, spec.Command, err)
	}
	found, err := exec.LookPath(path)
	if err != nil {
		return "", startError(spec, path, err)
	}
	return found, nil
}

func searchPath(command, path string) (string, error) {
	var denied error
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // depends on the working directory; os/exec refuses these, too
		}
		// Given a path, LookPath does not search, but checks that the file is executable, and tries the extensions of
		// PATHEXT on Windows.
		found, err := exec.LookPath(filepath.Join(dir, command))
		if err == nil {
			return found, nil
		}
		if errors.Is(err, fs.ErrPermission) && denied == nil {
			denied = plain(err, "cannot start %q: permission denied: %s is not executable",
				command, filepath.Join(dir, command))
		}
	}
	if denied != nil {
		return "", denied
	}
	shown := path
	if len(shown) > maxShownPath {
		shown = shown[:maxShownPath] + "…"
	}
	return "", plain(exec.ErrNotFound, "command %q not found; searched PATH: %s", command, shown)
}

// childPath returns the PATH of a child with this environment; that of the workbench if the child has none.
func childPath(env []string) string {
	path, found := "", false
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if name == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(name, "PATH") {
			path, found = value, true
		}
	}
	if !found {
		return os.Getenv("PATH")
	}
	return path
}

// startError converts the error of starting the file at path to one for people.
func startError(spec Spec, path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return plain(err, "cannot start %q: permission denied: %s is not executable", spec.Command, path)
	case errors.Is(err, fs.ErrNotExist) && exists(path):
		return plain(err, "cannot start %q: the interpreter that %s names in its first line was not found", spec.Command, path)
	case errors.Is(err, fs.ErrNotExist):
		return plain(err, "command %q not found: there is no %s", spec.Command, path)
	case errors.Is(err, syscall.ENOEXEC):
		return plain(err, "cannot start %q: %s is no program for this system and has no #! line", spec.Command, path)
	}
	return fmt.Errorf("cannot start %q: %w", spec.Command, err)
}

// plainError replaces the text of its cause by one for people.
type plainError struct {
	message string
	cause   error
}

func plain(cause error, format string, args ...any) error {
	return &plainError{message: fmt.Sprintf(format, args...), cause: cause}
}

func (e *plainError) Error() string { return e.message }
func (e *plainError) Unwrap() error { return e.cause }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
