package builtin

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	defaultListed = 200
	maxListed     = 2000 // entries of one listing; a note says that there are more
	maxDepth      = 64   // levels of folders that are listed or searched
)

type listInput struct {
	Path  string `json:"path,omitempty" jsonschema:"Folder to list, relative to the root folder. Default: the root folder itself."`
	Depth int    `json:"depth,omitempty" jsonschema:"Levels of folders to go down, 1 to 64. Default: 1, this folder only; with glob, every level."`
	Glob  string `json:"glob,omitempty" jsonschema:"List only files and folders whose name matches, such as *.go or *.{ts,tsx}; with a slash it matches the path below the listed folder, such as src/**/*_test.go."`
	All   bool   `json:"all,omitempty" jsonschema:"Include .git and node_modules, which are skipped otherwise."`
	Limit int    `json:"limit,omitempty" jsonschema:"Most entries to return, up to 2000. Default: 200."`
}

type listOutput struct {
	Path    string      `json:"path" jsonschema:"The folder listed, relative to the root folder"`
	Entries []listEntry `json:"entries" jsonschema:"Files and folders in the order of their names"`
	LeftOut int         `json:"left_out" jsonschema:"How many more there are than were returned"`
	Note    string      `json:"note,omitempty" jsonschema:"What was left out or skipped, and how to see it"`
}

type listEntry struct {
	Path     string `json:"path" jsonschema:"Relative to the root folder"`
	Type     string `json:"type" jsonschema:"file, folder, link or other"`
	Size     int64  `json:"size,omitempty" jsonschema:"Size of a file in bytes"`
	Modified string `json:"modified,omitempty" jsonschema:"Time of the last change, RFC 3339"`
	Target   string `json:"target,omitempty" jsonschema:"Where a link leads"`
}

func (f *folder) list(ctx context.Context, _ *mcp.CallToolRequest, in listInput) (*mcp.CallToolResult, *listOutput, error) {
	start, err := f.locate(in.Path)
	if err != nil {
		return nil, nil, err
	}
	limit, err := inRange("limit", in.Limit, defaultListed, maxListed)
	if err != nil {
		return nil, nil, err
	}
	otherwise := 1
	if in.Glob != "" {
		otherwise = maxDepth
	}
	depth, err := inRange("depth", in.Depth, otherwise, maxDepth)
	if err != nil {
		return nil, nil, err
	}
	pattern, err := parseGlob(in.Glob)
	if err != nil {
		return nil, nil, err
	}
	if err := f.mustBeFolder(start); err != nil {
		return nil, nil, err
	}

	out := &listOutput{Path: start, Entries: []listEntry{}}
	w := &walk{folder: f, depth: depth, all: in.All}
	w.visit = func(full, below string, entry fs.DirEntry) error {
		switch {
		case !pattern.match(below):
		case len(out.Entries) < limit:
			out.Entries = append(out.Entries, f.entry(full, entry))
		default:
			out.LeftOut++
		}
		return nil
	}
	if err := w.run(ctx, start); err != nil {
		return nil, nil, f.explain(start, err)
	}
	var leftOut string
	if out.LeftOut > 0 {
		leftOut = fmt.Sprintf("%d more were left out; raise limit, narrow with glob, or give a path further down.", out.LeftOut)
	}
	out.Note = sentences(leftOut, w.note())
	return answer(out.String(), out.Note), out, nil
}

func (f *folder) mustBeFolder(name string) error {
	dir, info, err := f.open(name)
	if err != nil {
		return f.explain(name, err)
	}
	defer dir.Close()
	if !info.IsDir() {
		return refuse("Use read_file for it, or give the folder it is in.", "%q is a file, not a folder.", name)
	}
	return nil
}

// entry describes the file at a path. A file that has vanished is listed by name and type only.
func (f *folder) entry(name string, entry fs.DirEntry) listEntry {
	e := listEntry{Path: name, Type: "other"}
	info, err := f.root.Lstat(name)
	if err == nil {
		e.Modified = info.ModTime().UTC().Format(time.RFC3339)
	}
	switch {
	case entry.IsDir():
		e.Type = "folder"
	case entry.Type().IsRegular():
		e.Type = "file"
		if err == nil {
			e.Size = info.Size()
		}
	case entry.Type()&fs.ModeSymlink != 0:
		e.Type = "link"
		target, _ := f.root.Readlink(name)
		e.Target = filepath.ToSlash(target)
	}
	return e
}

func (o *listOutput) String() string {
	if len(o.Entries) == 0 {
		return "Nothing found."
	}
	var b strings.Builder
	for _, e := range o.Entries {
		b.WriteString(e.Path)
		switch e.Type {
		case "folder":
			b.WriteString("/")
		case "file":
			fmt.Fprintf(&b, " (%d bytes)", e.Size)
		case "link":
			fmt.Fprintf(&b, " -> %s", e.Target)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
