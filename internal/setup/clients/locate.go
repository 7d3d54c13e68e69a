package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Machine is the environment that determines the paths of clients' files.
type Machine struct {
	OS     string // as runtime.GOOS
	Getenv func(string) string
	Exists func(path string) bool
	Glob   func(pattern string) []string // paths that match a pattern such as C:\Users\me\Claude_*
	Find   func(program string) string   // path of a program in PATH, or ""
}

// ThisMachine returns the machine that the program runs on.
func ThisMachine() Machine {
	return Machine{
		OS: runtime.GOOS, Getenv: os.Getenv,
		Exists: func(path string) bool { _, err := os.Stat(path); return err == nil },
		Glob: func(pattern string) []string {
			found, _ := filepath.Glob(pattern) // the patterns are constants and well formed
			return found
		},
		Find: func(program string) string {
			found, err := exec.LookPath(program)
			if err != nil || !filepath.IsAbs(found) {
				return "" // not a program in the working folder, which may be anybody's
			}
			return found
		},
	}
}

// Home returns the user's home folder; "" if it is unknown.
func (m Machine) Home() string {
	if m.OS == "windows" {
		return m.Getenv("USERPROFILE")
	}
	return m.Getenv("HOME")
}

// Files returns the client's file with the user's servers: the existing one, or the one to create. With several, the
// client may read any of them, and a person has to choose. The result is empty if the environment is incomplete.
func (c *Client) Files(m Machine) []string {
	places, fresh := c.places[m.OS], c.fresh
	if places == nil {
		places = c.places[""]
	}
	for _, o := range c.overrides {
		if value := m.Getenv(o.variable); value != "" {
			places = nil
			for _, place := range o.places {
				places = append(places, strings.ReplaceAll(place, "{}", value))
			}
			fresh = min(fresh, len(places)-1)
			break
		}
	}
	if strings.Contains(places[0], "*") {
		return m.packaged(places[0], places[1])
	}
	for _, place := range places {
		if path := m.expand(place); path != "" && m.Exists(path) {
			return []string{path}
		}
	}
	if path := m.expand(places[fresh]); path != "" {
		return []string{path}
	}
	return nil
}

// HasProjectFile reports whether the client has a file for the servers of a project.
func (c *Client) HasProjectFile() bool { return len(c.project) > 0 }

// ProjectFile returns the client's file for a project in a folder; "" if the client has none.
func (c *Client) ProjectFile(m Machine, folder string) string {
	if len(c.project) == 0 {
		return ""
	}
	for _, place := range c.project {
		if path := m.join(folder, place); m.Exists(path) {
			return path
		}
	}
	return m.join(folder, c.project[min(c.fresh, len(c.project)-1)])
}

// packaged chooses between the file of an app installed as a Windows package, which has a file system of its own, and
// that of an ordinary installation. The package is preferred, but an ordinary file beside a package without a file may
// be the one in use.
func (m Machine) packaged(pattern, ordinary string) []string {
	usual := m.expand(ordinary)
	expanded := m.expand(pattern)
	if expanded == "" {
		return compact(usual)
	}
	root, rest, _ := strings.Cut(expanded, "*")
	var files []string
	for _, folder := range m.Glob(root + "*") {
		files = append(files, folder+rest)
	}
	switch {
	case len(files) == 0:
		return compact(usual)
	case len(files) == 1 && (m.Exists(files[0]) || !m.Exists(usual)):
		return files
	case m.Exists(usual):
		files = append(files, usual)
	}
	return files
}

func compact(path string) []string {
	if path == "" {
		return nil
	}
	return []string{path}
}

// expand returns the path of a place; "" if it needs a variable that is not set.
func (m Machine) expand(place string) string {
	root, rest, _ := strings.Cut(place, "/")
	switch {
	case root == "~":
		root = m.Home()
	case root == "$CONFIG":
		root = m.configFolder()
	case strings.HasPrefix(root, "%"):
		root = m.Getenv(strings.Trim(root, "%"))
	default:
		return m.native(place)
	}
	if root == "" {
		return ""
	}
	return m.join(root, rest)
}

// configFolder follows the XDG specification, which ignores relative paths.
func (m Machine) configFolder() string {
	if dir := m.Getenv("XDG_CONFIG_HOME"); strings.HasPrefix(dir, "/") || m.OS == "windows" && strings.Contains(dir, ":") {
		return dir
	}
	if home := m.Home(); home != "" {
		return m.join(home, ".config")
	}
	return ""
}

func (m Machine) join(folder, rest string) string {
	return m.native(strings.TrimRight(folder, `/\`) + "/" + rest)
}

// native formats a path for the machine, which may be a different one.
func (m Machine) native(path string) string {
	if m.OS == "windows" {
		return strings.ReplaceAll(path, "/", `\`)
	}
	return path
}

// older returns the existing files of earlier versions, with the path to their servers.
func (c *Client) olderFiles(m Machine) []olderPlace {
	var found []olderPlace
	for _, old := range c.older {
		places := old.places[m.OS]
		if places == nil {
			places = old.places[""]
		}
		for _, place := range places {
			if path := m.expand(place); path != "" && m.Exists(path) {
				found = append(found, olderPlace{path, old.servers})
			}
		}
	}
	return found
}

type olderPlace struct {
	path    string
	servers []string
}
