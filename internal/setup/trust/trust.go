// Package trust decides whether a configuration found in the working folder may run programs, and
// records the user's answer.
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

// File is a configuration and its workbench.env, as they were read. Parse these bytes, not the file
// again: it may have changed by then.
type File struct {
	Path    string // absolute
	Content []byte
	Info    fs.FileInfo

	Env     []byte
	EnvInfo fs.FileInfo // nil without variables beside it

	// Shown is the review that a person saw, recorded for later comparison. It contains no secrets.
	Shown []string
}

// FileOf returns the file of a source.
func FileOf(source *config.Source) File {
	return File{Path: source.Path, Content: source.Data, Info: source.Info, Env: source.Env, EnvInfo: source.EnvInfo}
}

// digest is the hash of both contents. The lengths separate them, and distinguish an empty file from
// a missing one.
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

// identity is the path that a record is stored for. Links in the folder are resolved, so that every path to it is the
// same. The file name is not: a link from another folder to a trusted file is not trusted, because relative commands
// would start elsewhere.
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
	if !utf8.ValidString(path) { // a record could not distinguish it from another such path
		return "", &toolbox.Error{
			Code:    toolbox.TrustNotRecorded,
			Message: "A file whose path is not UTF-8 cannot be trusted",
			Hint:    "Name it with --config.",
		}
	}
	return path, nil
}
