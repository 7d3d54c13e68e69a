package toolbox

import (
	"errors"
	"strings"
	"testing"
)

// A server is named in one way everywhere.
func TestNamed(t *testing.T) {
	names := &Named{
		Toolboxes: []string{"dev", "web", "git", "a/b"},
		Servers:   []Place{{"dev", "files"}, {"dev", "git"}, {"a", "b"}, {"web", "files"}, {"web", "fetch"}, {"a", "b/c"}, {"a/b", "c"}, {"a/b", "d"}},
		Where:     "here", Code: ReferenceNotFound, List: "mcp-workbench list",
	}
	for _, test := range []struct {
		name    string
		meaning Meaning
		want    string // a reference, or a part of the error
	}{
		{"fetch", ServerOnly, "web/fetch"},
		{"web/fetch", ServerOnly, "web/fetch"},
		{"files", ServerOnly, "Write one of these: dev/files, web/files"},
		{"git", ServerOnly, "dev/git"},
		{"git", ToolboxFirst, "git"},
		{"git", ToolboxMarked, "Write one of these: git/, dev/git"},
		{"git/", ToolboxMarked, "git"},
		{"git/", ToolboxFirst, "git"},
		{"dev", ToolboxMarked, "dev"},
		{"dev", ServerOnly, "There is no server 'dev' here"},
		{"d", ToolboxFirst, "a/b/d"},
		{"a/b/", ToolboxFirst, "a/b"},
		{"a/b/", ToolboxMarked, "a/b"},
		{"b", ToolboxMarked, "a/b"},
		{"files", ToolboxOnly, "There is no toolbox 'files' here"},
		{"something else", ToolboxOnly, "The toolboxes are: dev, web, git, a/b\nTo see all"},
		{"de", ToolboxOnly, "Did you mean 'dev'?"},
		{"dev/", ToolboxOnly, "dev"},
		{"fetsh", ServerOnly, "Did you mean 'fetch'?"},
		{"deb/git", ToolboxFirst, "Did you mean 'dev/git'?"},
		{"wbe", ToolboxFirst, "Did you mean 'web'"},
		{"something else", ToolboxFirst, "The servers are: dev/files, dev/git, a/b, web/files, web/fetch, a/b/c, a/b/c, a/b/d\nTo see all: mcp-workbench list"},
		{"a\nb", ToolboxFirst, "'a b'"},
	} {
		found, err := names.Find(test.name, test.meaning)
		if err != nil {
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: the error is %q, not %q", test.name, err, test.want)
			}
			if known, ok := errors.AsType[*Error](err); !ok || known.Code == "" || known.Hint == "" {
				t.Errorf("%s: the error has no code or hint: %#v", test.name, err)
			}
		} else if found.String() != test.want {
			t.Errorf("%s is %s, not %s", test.name, found, test.want)
		}
	}
	for _, meaning := range []Meaning{ToolboxFirst, ToolboxMarked} { // a toolbox has the same name, and can be marked
		if found, err := names.Find("a/b", meaning); err != nil || found != (Place{"a", "b"}) {
			t.Errorf("a/b is %#v, %v", found, err)
		}
		if found, err := names.Find("a/b/", meaning); err != nil || found != (Place{Toolbox: "a/b"}) {
			t.Errorf("a/b/ is %#v, %v", found, err)
		}
	}
	if short := strings.Join(names.Short(), " "); short != "dev/files dev/git b web/files fetch b/c c d" {
		t.Errorf("the short names are %s", short)
	}
}
