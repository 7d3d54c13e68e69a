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

// folder serves the files below one folder. Files are opened through os.Root, so that neither ".." nor a link leads
// outside, even if files change at the same time.
type folder struct {
	root   *os.Root
	dir    string // the given folder as an absolute path
	real   string // dir without links
	escape error  // the error of os.Root for a path that leads outside
	limits limits
}

// limits bound the work of one call.
type limits struct {
	entries    int           // directory entries examined
	readBytes  int           // bytes of text that read_file returns
	scanBytes  int64         // bytes read to find a line
	fileBytes  int           // bytes of a file that is searched
	totalBytes int64         // bytes of all files that are searched
	searchTime time.Duration // duration of a search
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
	// The error is not exported: provoke it.
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
		Annotations: readOnly(),
	}, f.list)
	addTool(server, &mcp.Tool{
		Name:        "read_file",
		Title:       "Read a file",
		Description: "Read a text file, or the part of it from line offset on. A long file comes in parts, and the answer says how to get the next one.",
		Annotations: readOnly(),
	}, f.read)
	addTool(server, &mcp.Tool{
		Name:        "search_files",
		Title:       "Search in files",
		Description: "Find the lines that contain a text or match a regular expression, in all text files below a folder. Answers with path:line: text for each.",
		Annotations: readOnly(),
	}, f.search)
}

// locate converts a path from the model to one relative to the root. It accepts absolute paths below the root, which
// models often use.
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

// open opens a file or folder for reading. It checks the type first, because opening a pipe may block forever; if the
// file is replaced by a pipe in between, opening it does not block.
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

// openNow opens the file that has the name now.
func (f *folder) openNow(name string) (*os.File, fs.FileInfo, error) {
	file, err := f.root.OpenFile(name, os.O_RDONLY|safefile.NonBlocking, 0)
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

// follow resolves links in name. os.Root refuses every absolute link, even one that stays inside. The result is still
// opened through os.Root, so that a wrong one does no harm. Paths that cannot be resolved are returned unchanged.
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

// explain converts an error of the file system to one that a model can act on.
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
