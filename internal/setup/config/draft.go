package config

import (
	"io/fs"
	"path/filepath"
	"runtime"
	"time"
)

// Draft is a source as it would be read once it is written; env is nil without variables
// beside it. Whoever writes it keeps both files to their user.
func Draft(path string, data, env []byte) *Source {
	s := &Source{Path: path, Data: data, Info: draftInfo(filepath.Base(path))}
	if env != nil {
		s.Env, s.EnvInfo = env, draftInfo(EnvFileName)
	}
	s.lock, s.lockError = File{Path: path}.ReadLock()
	return s
}

// NotYet is the draft of a file that does not exist: only the variables beside it are read.
func NotYet(path string) (*Source, error) {
	s := Draft(path, nil, nil)
	return s, s.readEnv()
}

// EnvPath is where the variables of a configuration are kept.
func EnvPath(path string) string { return (&Source{Path: path}).envPath() }

// UserPath is where the user's own configuration is looked for, whether it is there or
// not; "" if the environment does not tell.
func UserPath(getenv func(string) string) string { return userPath(runtime.GOOS, getenv) }

// Variables returns what workbench.env sets, with the environment over it.
func (s *Source) Variables(environ []string) (map[string]string, error) {
	vars, _, err := s.variables()
	if err == nil {
		addEnviron(vars, environ)
	}
	return vars, err
}

// draftInfo is the name of a file that is not written yet.
type draftInfo string

func (d draftInfo) Name() string     { return string(d) }
func (draftInfo) Size() int64        { return 0 }
func (draftInfo) Mode() fs.FileMode  { return 0o600 }
func (draftInfo) ModTime() time.Time { return time.Time{} }
func (draftInfo) IsDir() bool        { return false }
func (draftInfo) Sys() any           { return nil }
