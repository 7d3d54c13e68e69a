package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks bounds the links that a path leads through; systems allow 40 or 255.
const maxLinks = 255

// Follow resolves an absolute path as the system does. It returns the links in the order in which they are followed,
// and the target, all by their real names. Whoever can replace one of the links decides which file is found.
func Follow(path string) (links []string, target string, err error) {
	volume := filepath.VolumeName(path)
	root := volume + string(filepath.Separator)
	at, ahead := root, split(path[len(volume):])
	for len(ahead) > 0 {
		next := filepath.Join(at, ahead[0]) // ".." goes up correctly, since at contains no links
		ahead = ahead[1:]
		info, err := os.Lstat(next)
		if err != nil {
			return nil, "", err
		}
		if info.Mode().Type() != fs.ModeSymlink {
			at = next
			continue
		}
		if links = append(links, next); len(links) > maxLinks {
			return nil, "", &fs.PathError{Op: "follow", Path: path, Err: errors.New("too many links")}
		}
		to, err := os.Readlink(next)
		if err != nil {
			return nil, "", err
		}
		if filepath.IsAbs(to) {
			volume = filepath.VolumeName(to)
			at, to = volume+string(filepath.Separator), to[len(volume):]
		}
		ahead = append(split(to), ahead...)
	}
	return links, at, nil
}

// Target returns the file that a path leads to through links, which does not have to exist: a link to a missing file is
// followed, too.
func Target(path string) (string, error) {
	for range maxLinks {
		found, err := filepath.EvalSymlinks(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return found, err
		}
		next, err := os.Readlink(path)
		if err != nil {
			return path, nil //nolint:nilerr // it is missing, and not a link
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	return "", &fs.PathError{Op: "follow", Path: path, Err: errors.New("too many links")}
}

// split returns the parts of a path, without those that mean the folder itself.
func split(path string) []string {
	var parts []string
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	return parts
}

// PathProblem returns how a user other than this one and root can decide what is read at a path: by changing the file or
// its folder, or by replacing a link that leads to it. The reason is a clause, or "".
func PathProblem(path string) string {
	links, target, err := Follow(path)
	if err != nil {
		return "" // the caller gets the same error when it reads the file
	}
	if info, err := Stat(target); err == nil {
		if reason := changeProblem(info); reason != "" {
			return target + " " + reason
		}
	}
	for _, entry := range append(links, target) {
		if reason := ReplaceProblem(entry); reason != "" {
			return reason
		}
	}
	return ""
}
