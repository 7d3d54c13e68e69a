package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/atomicfile"
	"github.com/mcp-workbench/mcp-workbench/internal/ownfile"
)

// store is a folder with a file per server. A file is only ever replaced as a whole:
// of two workbenches that write the same one, the last wins. Stores with other suffixes
// may share the folder.
type store struct {
	folder  string // "": nothing is kept
	suffix  string
	maxFile int   // bytes
	maxAll  int64 // bytes of all files
}

const (
	storeVersion = 1
	// maxStoredFile is above what the limits of a server's tools allow.
	maxStoredFile = 2 << 20
	// maxStoredFiles bounds the folder: each change of a server's configuration begins a
	// new file. Those that were not used for the longest time go.
	maxStoredFiles = 1_000
	maxStoredBytes = 256 << 20

	hashesSuffix = ".json"
	// An unfinished file of this age was left by a crash.
	unfinished    = ".new"
	unfinishedAge = time.Hour
)

// stored is the content of a file. Names are hashed too: that bounds their length, and
// nothing of what a server says is written down.
type stored struct {
	Version int          `json:"version"`
	Tools   []storedTool `json:"tools"`
}

type storedTool struct {
	Name       string `json:"name"`
	Definition string `json:"definition"`
}

func (st store) path(key Hash) string { return filepath.Join(st.folder, key.String()+st.suffix) }

// load reads what was kept of a server, and the hash of it as a whole. A server that is
// not known has no tools.
func (st store) load(key Hash) (tools []seenTool, content Hash, err error) {
	if st.folder == "" {
		return nil, content, nil
	}
	data, _, err := ownfile.Read(st.path(key), st.maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, content, nil
	} else if err != nil {
		return nil, content, err
	}
	if tools, err = decode(data); err != nil {
		return nil, content, fmt.Errorf("%s is damaged: %w", st.path(key), err)
	}
	st.touch(key)
	return tools, sha256.Sum256(data), nil
}

// touch notes that a file is in use, see prune; at worst it goes too early.
func (st store) touch(key Hash) {
	now := time.Now()
	_ = os.Chtimes(st.path(key), now, now)
}

func decode(data []byte) ([]seenTool, error) {
	var content stored
	if err := json.Unmarshal(data, &content); err != nil {
		return nil, err
	}
	if content.Version != storeVersion {
		return nil, fmt.Errorf("its version is %d, not %d", content.Version, storeVersion)
	}
	tools := make([]seenTool, len(content.Tools))
	for i, tool := range content.Tools {
		if !parseHash(tool.Name, &tools[i].name) || !parseHash(tool.Definition, &tools[i].definition) {
			return nil, fmt.Errorf("tool number %d is not given by two hashes", i+1)
		}
	}
	return tools, nil
}

func parseHash(text string, hash *Hash) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && copy(hash[:], raw) == len(hash) && len(raw) == len(hash)
}

func encode(tools []seenTool) ([]byte, error) {
	content := stored{Version: storeVersion, Tools: make([]storedTool, len(tools))}
	for i, tool := range tools {
		content.Tools[i] = storedTool{Name: tool.name.String(), Definition: tool.definition.String()}
	}
	data, err := json.Marshal(content)
	return append(data, '\n'), err
}

// save writes what is remembered of a server, unless the file has it already.
func (st store) save(key Hash, s *seen) error {
	if st.folder == "" {
		return nil
	}
	data, err := encode(s.tools)
	if err != nil {
		return err
	}
	content := Hash(sha256.Sum256(data))
	if content == s.file {
		return nil
	}
	isNew := s.file == Hash{}
	if err := replaceFile(st.path(key), data); err != nil {
		return err
	}
	s.file = content
	if isNew {
		st.prune()
	}
	return nil
}

// replaceFile replaces a file, and makes its folder if need be.
func replaceFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Replace(path, "*"+unfinished, data)
}

// prune removes what crashes left, and the files beyond the limit. What it cannot remove
// harms nobody, and the next new file tries again.
func (st store) prune() {
	entries, err := os.ReadDir(st.folder)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			continue // another workbench removed it
		}
		switch {
		case strings.HasSuffix(entry.Name(), st.suffix):
			files = append(files, info)
		case strings.HasSuffix(entry.Name(), unfinished) && time.Since(info.ModTime()) > unfinishedAge:
			_ = os.Remove(filepath.Join(st.folder, entry.Name()))
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { // the latest first
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	var size int64
	for i, info := range files {
		if size += info.Size(); i >= maxStoredFiles || size > st.maxAll {
			_ = os.Remove(filepath.Join(st.folder, info.Name()))
		}
	}
}
