package condition

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// outside is the reason for a path that was found, and is not inside of a folder.
const outside = "outside"

// maxLinks is the number of links on the way to a file, as systems have it; a path with more does not hold.
const maxLinks = 40

var (
	errTooManyLinks = errors.New("too many links")
	errOwnLink      = errors.New("a link that differs between processes")
	errUpFromAbsent = errors.New("a way up from a folder that does not exist")
)

// places are folders that paths are compared with.
type places struct {
	roots  []string
	folder string // where relative paths start; "" if it is not known

	resolved []root // of roots, once it is needed
}

// root is a folder as it is on disk.
type root struct {
	path string      // without links
	info fs.FileInfo // nil if it does not exist
}

// judge returns why one reading of a path is not inside, or cannot be judged.
func (p *places) judge(path string, isURL bool) string {
	if why := oddPath(path); why != "" {
		return why
	}
	if isURL && goesUp(path) {
		return "its address has '..' in it"
	}
	starts := []string{""}
	if !filepath.IsAbs(path) {
		if !filepath.IsAbs(p.folder) {
			return "it is relative, and the folder of the server is not known"
		}
		starts[0] = p.folder + string(filepath.Separator)
		if goesUp(path) { // programs name their own folder with links or without
			folder, err := resolve(p.folder)
			if err != nil {
				return "the folder of the server cannot be read"
			}
			starts = append(starts, folder+string(filepath.Separator))
		}
	}
	for _, start := range starts {
		if why := p.judgeAbsolute(start + path); why != "" {
			return why
		}
	}
	return ""
}

// judgeAbsolute judges a path as the system follows it and, if it goes up, also as programs that first shorten it.
func (p *places) judgeAbsolute(path string) string {
	spellings := []string{path}
	if goesUp(path) {
		spellings = append(spellings, filepath.Clean(path))
	}
	for _, spelling := range spellings {
		target, err := resolve(spelling)
		switch {
		case errors.Is(err, errUpFromAbsent):
			return "it has '..' after a folder that does not exist"
		case err != nil:
			return "it cannot be followed to a file"
		case !p.contain(target):
			return outside
		}
	}
	return ""
}

// contain reports whether a path without links is inside of one of the folders.
func (p *places) contain(target string) bool {
	if p.resolved == nil {
		for _, path := range p.roots {
			if resolved, err := resolve(path); err == nil && filepath.IsAbs(path) {
				info, _ := os.Lstat(resolved)
				p.resolved = append(p.resolved, root{resolved, info})
			}
		}
	}
	for at := target; ; at = filepath.Dir(at) {
		if slices.ContainsFunc(p.resolved, func(r root) bool { return r.is(at) }) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// is reports whether a path is this folder. Where the file system ignores case, names that differ are the same folder.
func (r root) is(path string) bool {
	if path == r.path {
		return true
	}
	if r.info == nil || !strings.EqualFold(filepath.Base(path), filepath.Base(r.path)) {
		return false
	}
	info, err := os.Lstat(path)
	return err == nil && os.SameFile(info, r.info)
}

// resolve follows all links of an absolute path as the system does, also those whose target does not exist.
func resolve(path string) (string, error) {
	volume := filepath.VolumeName(path)
	top := volume + string(filepath.Separator)
	at, isAbsent, links := top, false, 0
	for parts := split(path[len(volume):]); len(parts) > 0; {
		part := parts[0]
		parts = parts[1:]
		if part == ".." {
			if isAbsent {
				return "", errUpFromAbsent
			}
			at = filepath.Dir(at)
			continue
		}
		at = filepath.Join(at, part)
		if isAbsent {
			continue
		}
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			isAbsent = true
			continue
		case err != nil:
			return "", err
		case info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0: // irregular: a junction of Windows
			continue
		}
		if links++; links > maxLinks {
			return "", errTooManyLinks
		}
		target, err := linkTarget(at)
		if err != nil {
			return "", err
		}
		if at = filepath.Dir(at); filepath.IsAbs(target) {
			volume = filepath.VolumeName(target)
			at, target = volume+string(filepath.Separator), target[len(volume):]
		}
		parts = slices.Concat(split(target), parts)
	}
	return at, nil
}

// linkTarget reads a link. Those of /proc lead each process to somewhere else.
func linkTarget(path string) (string, error) {
	if strings.HasPrefix(path, "/proc/") {
		return "", errOwnLink
	}
	return os.Readlink(path)
}

// split returns the parts of a path, without those that change nothing.
func split(path string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(path, isSeparator), func(part string) bool { return part == "." })
}
