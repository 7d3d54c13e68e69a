// Package trust decides whether a configuration that merely lay in the working folder
// may run what it says, and remembers what its user answered.
package trust

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io/fs"
	"path/filepath"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// File is a configuration and the variables beside it, as they were read. Whoever parses
// it must parse these bytes: a file that is read again may be another one by then.
type File struct {
	Path    string // absolute
	Content []byte
	Info    fs.FileInfo

	Env     []byte
	EnvInfo fs.FileInfo // nil if there are no variables beside it

	// Shown is what a person saw of it, which is recorded to be compared later. It holds no secrets.
	Shown []string
}

// FileOf returns the file of a configuration that was read.
func FileOf(source *config.Source) File {
	return File{Path: source.Path, Content: source.Data, Info: source.Info, Env: source.Env, EnvInfo: source.EnvInfo}
}

// digest stands for the content of both. Lengths keep the end of one from being taken
// for the beginning of the other, and an empty file from being taken for none.
func (f File) digest() string {
	hash := sha256.New()
	add := func(content []byte) {
		hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(content))))
		hash.Write(content)
	}
	add(f.Content)
	if f.EnvInfo != nil {
		add(f.Env)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// identity is the path that a record is kept for. The folder has its real name, so that
// every way to it counts as one. The file keeps its own: a link from another folder to a
// trusted file is not trusted, because relative commands would start somewhere else.
func identity(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, filepath.Base(path))
	if !utf8.ValidString(path) { // a record could not tell it from another such path
		return "", &toolbox.Error{
			Code:    toolbox.TrustNotRecorded,
			Message: "A file whose path is not UTF-8 cannot be trusted",
			Hint:    "Name it with --config.",
		}
	}
	return path, nil
}
