package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

const maxFileSize = 16 << 20 // size of a configuration file; a larger one is an error

// Load reads the configuration file at path, and variables from the workbench.env beside it. environ has the form of
// os.Environ and overrides that file. A mistake inside one server becomes that server's Fault. Errors are of type
// *Error unless the current folder cannot be determined.
func Load(path string, environ []string) (*Config, error) {
	source, err := Read(path)
	if err != nil {
		return nil, err
	}
	return source.Load(environ)
}

// Source holds the bytes of a configuration file and of the workbench.env beside it. A check before parsing thus sees
// the same bytes as the parser.
type Source struct {
	Path string // absolute
	Data []byte
	Info fs.FileInfo

	// Named marks a file that a person named explicitly; it needs no consent.
	Named bool

	Env     []byte
	EnvInfo fs.FileInfo // nil if there is no workbench.env

	lock      []byte // nil if there is no workbench.lock
	lockError error  // why it cannot be read; reported only if the lock is needed
}

// Read reads everything that Load needs, without parsing it. Its errors are those of Load.
func Read(path string) (*Source, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, absError(err)
	}
	s := &Source{Path: path}
	if s.Data, s.Info, err = readFile(path); err != nil {
		return nil, readError(path, err)
	}
	s.lock, s.lockError = File{Path: path}.ReadLock()
	return s, s.readEnv()
}

// ReadAt is Read for a place that Find returned.
func ReadAt(place Place) (*Source, error) {
	s, err := Read(place.Path)
	if err == nil {
		s.Named = place.Origin == Named
	}
	return s, err
}

// readEnv reads the variables, if the file exists.
func (s *Source) readEnv() error {
	if !mayExist(s.envPath()) {
		return nil
	}
	var err error
	if s.Env, s.EnvInfo, err = readFile(s.envPath()); err != nil {
		return readError(s.envPath(), err)
	}
	return nil
}

func (s *Source) envPath() string { return filepath.Join(filepath.Dir(s.Path), EnvFileName) }

// Load parses the source.
func (s *Source) Load(environ []string) (*Config, error) { return s.LoadUnder(environ, nil) }

// LoadUnder parses the source as a project's file. user is the user's own configuration, or nil.
func (s *Source) LoadUnder(environ []string, user *Config) (*Config, error) {
	vars, warnings, err := s.variables()
	if err != nil {
		return nil, err
	}
	warnings = append(warnings, s.warnIfExposed()...)
	addEnviron(vars, environ)
	cfg, err := Parse(s.Path, s.Data, ParseOptions{
		Dir:    filepath.Dir(s.Path),
		Lookup: func(name string) (string, bool) { value, ok := vars[name]; return value, ok },
		Home:   homeDir(vars),
		Plain:  s.mayBePlain(),
		User:   user,
	})
	if err != nil {
		return nil, err
	}
	cfg.Path = s.Path
	cfg.Named = s.Named && s.Path != UserPath(os.Getenv) // a shared workbench is told of the user's file, too
	file := File{Path: s.Path, Locked: cfg.Locked}
	if cfg.Locked {
		file.LockedBy = s.Path
		if user != nil && user.Locked {
			file.LockedBy, file.Assumed = user.Path, user.LockAssumed
		}
		if s.lockError != nil {
			return nil, s.lockError
		}
		file.Lock = s.lock
	}
	for i := range cfg.Toolboxes {
		cfg.Toolboxes[i].File = s.Path
		file.Toolboxes = append(file.Toolboxes, cfg.Toolboxes[i].Name)
	}
	cfg.Files = []File{file}
	cfg.Warnings = append(warnings, cfg.Warnings...)
	return cfg, nil
}

// warnIfExposed warns about a file that other users can change.
func (s *Source) warnIfExposed() []Problem {
	if s.Info.Mode().Perm()&0o002 != 0 && runtime.GOOS != "windows" {
		return []Problem{{
			Message: s.Path + " can be changed by every user of this machine, and it names programs to run",
			Hint:    "chmod o-w " + shellQuote(s.Path),
		}}
	}
	paths := []string{s.Path}
	if s.EnvInfo != nil {
		paths = append(paths, s.envPath())
	}
	for _, path := range paths {
		if reason := safefile.PathProblem(path); s.Named && reason != "" {
			return []Problem{{
				Message: fmt.Sprintf("Others can decide what %s says, and so which programs run: %s", path, reason),
				Hint:    "let only yourself change it, its folder, and the folders of links that lead to it",
			}}
		}
	}
	return nil
}

// LockPath returns the path of the lock of the file's toolboxes.
func (f File) LockPath() string { return filepath.Join(filepath.Dir(f.Path), toolbox.LockFile) }

// ReadLock returns the unparsed content of the lock, or nil without one.
func (f File) ReadLock() ([]byte, error) {
	path := f.LockPath()
	if !mayExist(path) {
		return nil, nil
	}
	data, _, err := readFile(path)
	if err != nil {
		return nil, readError(path, err)
	}
	return data, nil
}

// readFile returns the content of a file within the limit. It rejects devices and named pipes at once.
func readFile(path string) ([]byte, fs.FileInfo, error) {
	data, info, err := safefile.Read(path, maxFileSize)
	if err != nil && info != nil && info.IsDir() {
		err = errIsFolder
	}
	return data, info, err
}

var errIsFolder = errors.New("it is a directory")

// readError returns the error for the person who named the file. It drops the operation and the path from the reason,
// since the error names the file.
func readError(path string, err error) *Error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	code, reason, hint := toolbox.ConfigUnreadable, err.Error(), ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code, reason, hint = toolbox.ConfigNotFound, "it does not exist", "check --config and WORKBENCH_CONFIG, or create the file"
	case errors.Is(err, fs.ErrPermission):
		reason = "permission denied"
	case errors.Is(err, errIsFolder):
		hint = "name the file in it"
	case errors.Is(err, safefile.ErrSpecial):
		reason, hint = "it is a device, a named pipe or a socket", "name a file"
	}
	return &Error{Code: code, File: path, Problems: []Problem{{Message: "Cannot read the file: " + reason, Hint: hint}}}
}

// addEnviron overrides vars with the process environment. On Windows names are case-insensitive, and ${VAR} uses
// capitals.
func addEnviron(vars map[string]string, environ []string) {
	for _, entry := range environ {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			continue
		}
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		vars[name] = value
	}
}

func homeDir(vars map[string]string) string {
	if runtime.GOOS == "windows" {
		return vars["USERPROFILE"]
	}
	return vars["HOME"]
}

// shellQuote quotes a path as one word of a shell command.
func shellQuote(path string) string {
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
