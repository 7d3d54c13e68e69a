package builtin

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// folder serves the files below one folder. Every file is opened through
// os.Root, so that neither ".." nor a link leads out of it, whatever happens to
// the files meanwhile.
type folder struct {
	root   *os.Root
	dir    string // as given, made absolute
	real   string // dir without links
	escape error  // what os.Root reports for a path that leads outside
	limits limits
}

// limits bound the work of one call.
type limits struct {
	entries    int           // directory entries looked at
	readBytes  int           // text that read_file returns
	scanBytes  int64         // read to find a line
	fileBytes  int           // of a file that is searched
	totalBytes int64         // of all files that are searched
	searchTime time.Duration // spent searching
}

var defaultLimits = limits{
	entries:    100_000,
	readBytes:  100_000,
	scanBytes:  64 << 20,
	fileBytes:  4 << 20,
	totalBytes: 256 << 20,
	searchTime: 20 * time.Second,
}

func openFiles(name string, args []string) (service, error) {
	dir := "."
	err := parseFlags(name, args, func(set *flag.FlagSet) {
		set.StringVar(&dir, "root", dir, "the `DIR` to serve; the current folder if not given")
	})
	if err != nil {
		return nil, err
	}
	return newFolder(dir)
}

func newFolder(dir string) (*folder, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("finding the folder to serve: %w", err)
	}
	root, err := os.OpenRoot(absolute)
	if err != nil {
		return nil, &toolbox.Error{
			Message: fmt.Sprintf("cannot serve the files in %s: %v", absolute, errors.Unwrap(err)),
			Hint:    "Give a folder that exists and that you may read, with --root DIR.",
			Cause:   err,
		}
	}
	resolved, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		resolved = absolute
	}
	// The error has no exported name, so it is learned by provoking it.
	_, err = root.Lstat("..")
	return &folder{root: root, dir: absolute, real: resolved, escape: errors.Unwrap(err), limits: defaultLimits}, nil
}

func (f *folder) Close() error { return f.root.Close() }

func (f *folder) instructions() string {
	return "Looks at the files below " + f.dir + " and never changes them. " +
		"Paths are relative to that folder; use search_files to find where something is, then read_file for the part you need."
}

func (f *folder) register(server *mcp.Server) {
	addTool(server, &mcp.Tool{
		Name:        "list_files",
		Title:       "List files",
		Description: "List the files and folders in a folder, with size and time of change. Go deeper with depth, or pick by name at every level with glob.",
		Annotations: looks(),
	}, f.list)
	addTool(server, &mcp.Tool{
		Name:        "read_file",
		Title:       "Read a file",
		Description: "Read a text file, or the part of it from line offset on. A long file comes in parts, and the answer says how to get the next one.",
		Annotations: looks(),
	}, f.read)
	addTool(server, &mcp.Tool{
		Name:        "search_files",
		Title:       "Search in files",
		Description: "Find the lines that contain a text or match a regular expression, in all text files below a folder. Answers with path:line: text for each.",
		Annotations: looks(),
	}, f.search)
}

// locate turns a path from the model into one relative to the root. It is
// lenient about absolute paths below the root, which models like to give.
func (f *folder) locate(name string) (string, error) {
	given := name
	if filepath.IsAbs(name) {
		for _, dir := range []string{f.dir, f.real} {
			if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rel) {
				name = rel
				break
			}
		}
	}
	name = path.Clean(filepath.ToSlash(name))
	if !filepath.IsLocal(name) {
		return "", f.explain(given, f.escape)
	}
	return name, nil
}

// open opens a file or folder for reading. Anything else is refused before it
// is opened, because opening a pipe may wait forever; one that takes the place of the
// file meanwhile is opened without waiting.
func (f *folder) open(name string) (*os.File, fs.FileInfo, error) {
	info, err := f.root.Stat(name)
	if errors.Is(err, f.escape) {
		name = f.follow(name)
		info, err = f.root.Stat(name)
	}
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, nil, errSpecial
	}
	return f.openNow(name)
}

// openNow opens what has the name by now.
func (f *folder) openNow(name string) (*os.File, fs.FileInfo, error) {
	file, err := f.root.OpenFile(name, os.O_RDONLY|safefile.NoWait, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = errSpecial
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

var errSpecial = errors.New("neither a file nor a folder")

// follow resolves links on the way to name. os.Root refuses every absolute
// link, even one that stays inside; what follow returns is still opened through
// os.Root, so a wrong answer can do no harm. Paths it cannot resolve it returns
// as they are.
func (f *folder) follow(name string) string {
	target, err := filepath.EvalSymlinks(filepath.Join(f.real, name))
	if err != nil {
		return name
	}
	rel, err := filepath.Rel(f.real, target)
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}

// explain makes an error of the file system one that a model can act on.
func (f *folder) explain(name string, err error) error {
	e := &toolbox.Error{Cause: err}
	switch {
	case errors.Is(err, f.escape):
		e.Message = fmt.Sprintf("%q leads outside the folder %s, and only files in it can be read.", name, f.dir)
		e.Hint = "Give a path below that folder; links to places outside it are not followed."
	case errors.Is(err, fs.ErrNotExist):
		e.Message = fmt.Sprintf("There is no %q in %s.", name, f.dir)
		e.Hint = "Use list_files to see what there is; paths are relative to that folder."
	case errors.Is(err, fs.ErrPermission):
		e.Message = fmt.Sprintf("%q may not be read: permission denied.", name)
		e.Hint = "Ask the user to allow it, or go on without it."
	case errors.Is(err, errSpecial):
		e.Message = fmt.Sprintf("%q is neither a file nor a folder, but a pipe, socket or device.", name)
		e.Hint = "Only files and folders can be read."
	default:
		if inner, ok := errors.AsType[*fs.PathError](err); ok {
			err = inner.Err
		}
		e.Message = fmt.Sprintf("%q cannot be read: %s.", name, strings.TrimSuffix(err.Error(), "."))
		e.Hint = "Check the path with list_files."
	}
	return e
}
