package condition

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// outside is the reason for a path that was found, and is not inside of a folder.
const outside = "outside"

// maxNames is how many names of files and folders are looked up for an argument, of all values together; one that needs
// more does not hold.
const maxNames = 100_000

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
	folder string   // where relative paths start; "" if it is not known
	others []string // where they may start, too

	resolved []root // of roots, once it is needed
	names    int    // that were looked up so far, at least
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
		starts = starts[:0]
		for _, folder := range append([]string{p.folder}, p.others...) {
			starts = append(starts, folder+string(filepath.Separator))
			if !goesUp(path) {
				continue
			}
			// Programs name their own folder with links or without.
			folder, _, err := resolve(folder)
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
		if p.names += 1 + strings.Count(spelling, string(filepath.Separator)); p.names > maxNames {
			return "it takes too long to judge"
		}
		target, entry, err := resolve(spelling)
		switch {
		case errors.Is(err, errUpFromAbsent):
			return "it has '..' after a folder that does not exist"
		case err != nil:
			return "it cannot be followed to a file"
		case !p.contain(target):
			return outside
		case !p.contain(entry) && !p.isNamed(spelling):
			return outside // a link to the inside, which may itself be deleted or replaced
		}
	}
	return ""
}

// contain reports whether a path without links is inside of one of the folders.
func (p *places) contain(target string) bool {
	if p.resolved == nil {
		for _, path := range p.roots {
			if resolved, _, err := resolve(path); err == nil && filepath.IsAbs(path) {
				info, _ := os.Lstat(resolved)
				p.resolved = append(p.resolved, root{resolved, info})
			}
		}
	}
	return slices.ContainsFunc(p.resolved, func(r root) bool { return r.contains(target) })
}

// isNamed reports whether a path is one of the folders as they are configured, which may be links.
func (p *places) isNamed(path string) bool {
	return slices.ContainsFunc(p.roots, func(root string) bool { return filepath.Clean(root) == filepath.Clean(path) })
}

// contains reports whether a path without links is inside of the folder. Where the file system ignores case, names that
// differ are the same folder.
func (r root) contains(path string) bool {
	inside := r.path
	if !os.IsPathSeparator(inside[len(inside)-1]) {
		inside += string(filepath.Separator)
	}
	if path == r.path || strings.HasPrefix(path, inside) {
		return true
	}
	if r.info == nil || len(path) < len(r.path) {
		return false
	}
	// As many parts of the path as the folder has.
	parts := len(split(r.path[len(filepath.VolumeName(r.path)):]))
	end := len(filepath.VolumeName(path))
	for ; parts > 0 && end < len(path); parts-- {
		end++
		for end < len(path) && !os.IsPathSeparator(path[end]) {
			end++
		}
	}
	info, err := os.Lstat(path[:end])
	return err == nil && parts == 0 && strings.EqualFold(path[:end], r.path) && os.SameFile(info, r.info)
}

// resolve follows all links of an absolute path as the system does, also those whose target does not exist. The entry is
// where the path leads if it ends with a link that is not followed.
func resolve(path string) (target, entry string, err error) {
	volume := filepath.VolumeName(path)
	at, links := volume+string(filepath.Separator), 0
	for parts := split(path[len(volume):]); len(parts) > 0; {
		part := parts[0]
		parts = parts[1:]
		if part == ".." {
			at = filepath.Dir(at)
			continue
		}
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if slices.Contains(parts, "..") {
				return "", "", errUpFromAbsent
			}
			at = strings.Join(append([]string{at}, parts...), string(filepath.Separator))
			return at, cmp.Or(entry, at), nil
		case err != nil:
			return "", "", err
		case info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0: // irregular: a junction of Windows
			continue
		}
		if links++; links > maxLinks {
			return "", "", errTooManyLinks
		}
		if len(parts) == 0 && entry == "" {
			entry = at
		}
		target, err := linkTarget(at)
		if err != nil {
			return "", "", err
		}
		at = filepath.Dir(at)
		switch targetVolume := filepath.VolumeName(target); {
		case filepath.IsAbs(target):
			at, target = targetVolume+string(filepath.Separator), target[len(targetVolume):]
		case targetVolume != "": // of Windows, as C:folder
			return "", "", errOwnLink
		case target != "" && os.IsPathSeparator(target[0]): // of Windows
			at = filepath.VolumeName(at) + string(filepath.Separator)
		}
		parts = slices.Concat(split(target), parts)
	}
	return at, cmp.Or(entry, at), nil
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
