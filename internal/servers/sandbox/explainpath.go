package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
)

// need is what a program wanted of a path.
type need int

const (
	unknownNeed need = iota
	toRead
	toWrite
)

// The words by which a message tells what its program wanted. Few of them do.
var needs = sync.OnceValue(func() (n struct{ read, write *regexp.Regexp }) {
	n.write = regexp.MustCompile(`(?i)cannot (?:create|touch|remove|move|overwrite|write)|for writing|setting permissions|` +
		`(?:^|[\s,:])(?:EROFS|mkdir|mkdtemp|rmdir|rm|unlink|rename|symlink|link|f?truncate|copyfile|touch|l?chmod|l?chown|l?utimes?)[:\s]`)
	n.read = regexp.MustCompile(`(?i)^(?:/\S*/)?(?:cat|head|tail|less|more|e?grep|ls|find|stat|wc|sort|strings|od): |` +
		`scandir|readdir|opendir|cannot open directory|cannot access|cannot stat|for reading`)
	return n
})

func needOf(line string) need {
	switch {
	case needs().write.MatchString(line):
		return toWrite
	case needs().read.MatchString(line):
		return toRead
	}
	return unknownNeed
}

// explainPath returns the denial of a path that a line names. What the sandbox allows, or what the workbench could not do either,
// was refused by ordinary permissions.
func (p *Plan) explainPath(line, path string) (Denial, bool) {
	resolved, wanted := realPath(path), needOf(line)
	_, err := os.Lstat(resolved)
	exists, reads := err == nil, p.Reads(resolved)
	switch {
	case p.Writes(resolved), err != nil && !errors.Is(err, fs.ErrNotExist):
		return Denial{}, false
	case isSocket(resolved):
		return unixSocket(path), true
	case isWithin(resolved, "/proc"):
		return Denial{What: path, Why: "what /proc says of other processes is closed to it"}, exists && mayRead(resolved)
	case wanted == toRead && reads:
		return Denial{}, false
	case exists && !reads && wanted != toWrite:
		return p.explainRead(path, resolved, wanted)
	}
	changed, folder := resolved, path // a file is created in a folder
	if !exists {
		changed = existingFolder(resolved)
	}
	if !isFolder(resolved) {
		folder = filepath.Dir(path)
	}
	switch {
	case !mayWrite(changed):
		return Denial{}, false
	case p.isTooMuch(realPath(folder)) || isWithinAny(realPath(folder), systemFolders):
		return Denial{What: path, Why: "it lies outside of what the server may write"}, true
	}
	return Denial{What: path, Fix: `"sandbox": {"write": [` + quoted(folder) + `]}`}, true
}

// explainRead returns the denial of a path that exists and cannot be read in the sandbox.
func (p *Plan) explainRead(path, resolved string, wanted need) (Denial, bool) {
	fix := `"sandbox": {"read": [` + quoted(path) + `]}`
	if wanted == unknownNeed {
		fix += `, or "write" if it changes it`
	}
	switch {
	case !mayRead(resolved) && (wanted == toRead || !mayWrite(resolved)):
		return Denial{}, false
	case p.isTooMuch(resolved):
		return Denial{What: path, Why: "it lies outside of what the server may read and write"}, true
	}
	return Denial{What: path, Fix: fix}, true
}

// systemFolders belong to the system, with all that is in them: that a server may write there is never proposed.
var systemFolders = []string{"/etc", "/proc", "/sys", "/dev", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/boot"}

// sharedFolders have what belongs to many programs.
var sharedFolders = []string{"/tmp", "/var", "/var/tmp", "/var/lib", "/var/log", "/run", "/opt", "/srv", "/mnt", "/media", "/home", "/root"}

// isTooMuch reports whether a path, without links, is more than a person should give to one server: a folder of the system or of
// many programs, or one that the home folder or the configuration is in.
func (p *Plan) isTooMuch(path string) bool {
	kept := slices.Clone(p.Settings)
	home := newEnvironment(p.Env, nil).home()
	kept = append(kept, home)
	if own, err := os.UserHomeDir(); err == nil {
		kept = append(kept, own)
	}
	return path == "/" || slices.Contains(systemFolders, path) || slices.Contains(sharedFolders, path) ||
		slices.ContainsFunc(kept, func(inside string) bool { return inside != "" && isWithin(realPath(inside), path) })
}

// existingFolder returns the innermost folder above a path that exists.
func existingFolder(path string) string {
	for above := filepath.Dir(path); ; above = filepath.Dir(above) {
		if isFolder(above) || above == filepath.Dir(above) {
			return above
		}
	}
}

// realPath resolves the links of a path as far as it exists.
func realPath(path string) string {
	for above, rest := path, ""; ; above, rest = filepath.Dir(above), filepath.Join(filepath.Base(above), rest) {
		if resolved, err := filepath.EvalSymlinks(above); err == nil {
			return filepath.Join(resolved, rest)
		}
		if above == "/" || above == "." {
			return path
		}
	}
}

func isSocket(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&os.ModeSocket != 0
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
