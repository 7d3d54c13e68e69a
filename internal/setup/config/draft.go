package config

import (
	"io/fs"
	"path/filepath"
	"runtime"
	"time"
)

// Draft returns a source as it would be read after being written. env is nil without variables beside the file. The
// writer has to keep both files private to their user.
func Draft(path string, data, env []byte) *Source {
	s := &Source{Path: path, Data: data, Info: draftInfo(filepath.Base(path))}
	if env != nil {
		s.Env, s.EnvInfo = env, draftInfo(EnvFileName)
	}
	s.lock, s.lockError = File{Path: path}.ReadLock()
	return s
}

// DraftOfMissing returns the draft of a file that does not exist: only the variables beside it are read.
func DraftOfMissing(path string) (*Source, error) {
	s := Draft(path, nil, nil)
	return s, s.readEnv()
}

// EnvPath returns the path of the variables of a configuration.
func EnvPath(path string) string { return (&Source{Path: path}).envPath() }

// UserPath returns the path of the user's own configuration, whether it exists or not; "" if the environment names no
// home folder.
func UserPath(getenv func(string) string) string { return userPath(runtime.GOOS, getenv) }

// Variables returns the variables of workbench.env, overridden by the environment.
func (s *Source) Variables(environ []string) (map[string]string, error) {
	vars, _, err := s.variables()
	if err == nil {
		addEnviron(vars, environ)
	}
	return vars, err
}

// draftInfo is the file info of a file that is not written yet.
type draftInfo string

func (d draftInfo) Name() string     { return string(d) }
func (draftInfo) Size() int64        { return 0 }
func (draftInfo) Mode() fs.FileMode  { return 0o600 }
func (draftInfo) ModTime() time.Time { return time.Time{} }
func (draftInfo) IsDir() bool        { return false }
func (draftInfo) Sys() any           { return nil }
