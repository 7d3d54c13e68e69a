package stored

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// File is a stored file that exists.
type File struct {
	Kind *Kind
	Path string
	Size int64
	// Newer is the error of Check for a file with a format that is not known; else nil.
	Newer error
}

// Find returns the stored files in the folders of places, by kind. Links, and folders that are links, are not ours: they are
// neither followed nor returned. A place without a folder ("") has no files.
func Find(folders map[Place]string) (found []File, err error) {
	var problems []error
	seen := make(map[string]bool)
	for _, kind := range Kinds() {
		folder := folders[kind.Place]
		if folder == "" {
			continue
		}
		for i, pattern := range kind.Patterns {
			files, err := match(folder, pattern, kind.Folders)
			problems = append(problems, err)
			for _, file := range files {
				file.Kind = kind
				if seen[file.Path] {
					continue
				}
				seen[file.Path] = true
				if i == 0 && kind.Format > 0 {
					file.Newer = kind.CheckFile(file.Path)
				}
				found = append(found, file)
			}
		}
	}
	return found, errors.Join(problems...)
}

// match returns the files in a folder that a pattern matches, or the folders. Only the last part of a pattern has wildcards.
func match(folder, pattern string, wantsFolders bool) (files []File, err error) {
	within, name := path.Split(pattern)
	dir := filepath.Clean(folder)
	for part := range strings.SplitSeq(strings.Trim("./"+within, "/"), "/") {
		if dir = filepath.Join(dir, part); !isFolder(dir) {
			return nil, nil
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		isOurs, err := path.Match(name, entry.Name())
		if err != nil {
			return nil, err
		}
		isKind := entry.Type().IsRegular() || entry.Type() == fs.ModeSocket
		if wantsFolders {
			isKind = entry.IsDir()
		}
		if !isOurs || !isKind {
			continue
		}
		if info, err := entry.Info(); err == nil { // else it is just gone
			files = append(files, File{Path: filepath.Join(dir, entry.Name()), Size: info.Size()})
		}
	}
	return files, nil
}

// isFolder reports whether a path is a folder, and not a link to one.
func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
