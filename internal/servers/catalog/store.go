package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// store is a folder with one file per server. Files are only replaced as a whole: when two workbenches write the same
// file, the last one wins. Stores with different suffixes can share a folder.
type store struct {
	folder  string // "": nothing is stored
	suffix  string
	kind    *stored.Kind
	maxFile int   // bytes
	maxAll  int64 // total size of the files, in bytes
}

// firstStoreVersion is the first format of stored.Definitions. It had only the hashes of tools.
const firstStoreVersion = 1

const (
	// maxStoredContent bounds the definitions in a file, in bytes; beyond it, only hashes are stored.
	maxStoredContent = 12 << 20
	// maxStoredFile bounds a file that is read, in bytes; it leaves room for maxStoredContent and the hashes of all
	// tools.
	maxStoredFile = 16 << 20
	// maxStoredFiles bounds the files in the folder, since each change of a server's configuration adds one; the least
	// recently used are deleted.
	maxStoredFiles = 1_000
	maxStoredBytes = 256 << 20 // size of all cached files; the least recently used are deleted

	seenSuffix = ".json"
	// Older unfinished files were left by a crash.
	unfinished    = ".new"
	unfinishedAge = time.Hour // after which an unfinished temporary file is deleted
)

func (st store) path(key Hash) string { return filepath.Join(st.folder, key.String()+st.suffix) }

// load reads the file of a server and the hash of its content. An unknown server has no tools.
func (st store) load(key Hash) (k fileContent, content Hash, err error) {
	if st.folder == "" {
		return k, content, nil
	}
	data, _, err := safefile.Read(st.path(key), st.maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return k, content, nil
	} else if err != nil {
		return k, content, err
	}
	if err := st.kind.Check(st.path(key), data); err != nil {
		return k, content, err
	}
	content = sha256.Sum256(data) // before decoding, which changes the data to one line
	if k, err = decode(data, st.kind); err != nil {
		return fileContent{}, Hash{}, fmt.Errorf("%s is damaged: %w", st.path(key), err)
	}
	st.touch(key)
	return k, content, nil
}

// touch marks a file as recently used, see prune. If that fails, the file may be deleted too early.
func (st store) touch(key Hash) {
	now := time.Now()
	_ = os.Chtimes(st.path(key), now, now)
}

// decode reads the content of a file of definitions, or of changes.
func decode(data []byte, kind *stored.Kind) (k fileContent, err error) {
	root, err := wire.ParseValue(data)
	if err != nil {
		return k, err
	}
	version := string(root.Member("version").Bytes())
	isFirst := kind == stored.Definitions && version == strconv.Itoa(firstStoreVersion)
	if version != strconv.Itoa(kind.Format) && !isFirst {
		return k, fmt.Errorf("its version is %.20s, not %d", version, kind.Format)
	}
	if said := root.Member("instructions"); !said.IsAbsent() {
		record, err := parseRecord(said, textKey)
		if err != nil {
			return k, fmt.Errorf("'instructions' %w", err)
		}
		k.instructions = &record
	}
	for value := range root.Member("tools").Elements() {
		var tool rememberedTool
		name, _ := value.Member("name").Text()
		if isFirst {
			digits, _ := value.Member("definition").Text()
			tool.record.First = true
			if !parseHash(digits, &tool.record.Hash) {
				err = errNoHash
			}
		} else {
			tool.record, err = parseRecord(value.Member("record"), definitionKey)
		}
		if err == nil && !parseHash(name, &tool.name) {
			err = errNoHash
		}
		if err != nil {
			return k, fmt.Errorf("tool number %d %w", len(k.tools)+1, err)
		}
		k.tools = append(k.tools, tool)
	}
	return k, nil
}

func parseHash(text string, hash *Hash) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && copy(hash[:], raw) == len(hash) && len(raw) == len(hash)
}

// encode returns the content of a file. Names are hashed, which bounds their length.
func (k *fileContent) encode(kind *stored.Kind) []byte {
	out := fmt.Appendf(nil, `{"version":%d`, kind.Format)
	room := maxStoredContent
	add := func(r Record, key string) {
		if room -= len(r.Content); room < 0 {
			room, r.Content = 0, nil
		}
		out = r.append(out, key)
	}
	if k.instructions != nil {
		out = append(out, `,"instructions":`...)
		add(*k.instructions, textKey)
	}
	out = append(out, `,"tools":[`...)
	for i, tool := range k.tools {
		if i > 0 {
			out = append(out, ",\n"...)
		}
		out = fmt.Appendf(out, `{"name":"%s","record":`, tool.name)
		add(tool.record, definitionKey)
		out = append(out, '}')
	}
	return append(out, "]}\n"...)
}

// save writes the file of a server if its content changed. last is the hash of its content, as it is in the file.
func (st store) save(key Hash, s *fileContent, last *Hash) error {
	if st.folder == "" {
		return nil
	}
	data := s.encode(st.kind)
	content := Hash(sha256.Sum256(data))
	if content == *last {
		return nil
	}
	isNew := *last == Hash{}
	if err := st.replaceFile(key, data); err != nil {
		return err
	}
	*last = content
	if isNew {
		st.prune()
	}
	return nil
}

// replaceFile replaces a file, and creates its folder if necessary. A file of a newer format stays as it is.
func (st store) replaceFile(key Hash, data []byte) error {
	path := st.path(key)
	if err := safefile.MakeFolder(st.folder); err != nil {
		return err
	}
	if err := st.kind.CheckFile(path); err != nil {
		return err
	}
	return safefile.Replace(path, "*"+unfinished, data)
}

// prune deletes temporary files left by crashes, and files beyond the limits. It ignores errors: the next new file
// tries again.
func (st store) prune() {
	entries, err := os.ReadDir(st.folder)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			continue // another workbench deleted it
		}
		switch {
		case strings.HasSuffix(entry.Name(), st.suffix):
			files = append(files, info)
		case strings.HasSuffix(entry.Name(), unfinished) && time.Since(info.ModTime()) > unfinishedAge:
			_ = os.Remove(filepath.Join(st.folder, entry.Name()))
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { // newest first
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	var size int64
	for i, info := range files {
		if size += info.Size(); i >= maxStoredFiles || size > st.maxAll {
			_ = os.Remove(filepath.Join(st.folder, info.Name()))
		}
	}
}
