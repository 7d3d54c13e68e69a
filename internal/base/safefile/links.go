package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks bounds a way that leads through links; systems allow 40 or 255.
const maxLinks = 255

// Follow walks an absolute path as the system does. It returns the links on the way, in the order in which they are
// followed, and what the path leads to, all by their real names: whoever can put another link in the place of one decides
// what is found.
func Follow(path string) (links []string, target string, err error) {
	volume := filepath.VolumeName(path)
	root := volume + string(filepath.Separator)
	at, ahead := root, split(path[len(volume):])
	for len(ahead) > 0 {
		next := filepath.Join(at, ahead[0]) // goes up for "..", which is right since at has no links
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

// split returns the parts of a path. Those that mean the folder itself are left out.
func split(path string) []string {
	var parts []string
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	return parts
}

// Exposed says how somebody but the user and root can decide what is read at a path: by changing the file or its
// folder, or by putting another link in the place of one that leads to it. It is a whole clause, or "".
func Exposed(path string) string {
	links, target, err := Follow(path)
	if err != nil {
		return "" // whoever reads it sees that
	}
	if info, err := os.Stat(target); err == nil {
		if reason := others(info); reason != "" {
			return target + " " + reason
		}
	}
	for _, entry := range append(links, target) {
		if reason := Replaceable(entry); reason != "" {
			return reason
		}
	}
	return ""
}
