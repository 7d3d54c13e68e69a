package passthrough

import (
	"strings"
	"testing"
)

func TestRename(t *testing.T) {
	for _, test := range []struct {
		origin origin
		uri    string
		want   string
	}{
		{origin{"dev", "files"}, "file:///a b", "workbench://dev/files/file%3A%2F%2F%2Fa%20b"},
		{origin{"my box", "a/b"}, "x:y", "workbench://my%20box/a%2Fb/x%3Ay"},
		{origin{"größe", "s"}, "ui://a?b=1#c", "ui://workbench/gr%C3%B6%C3%9Fe/s/ui%3A%2F%2Fa%3Fb%3D1%23c"},
		{origin{"a", "b"}, "workbench://c/d/e", "workbench://a/b/workbench%3A%2F%2Fc%2Fd%2Fe"},
		{origin{"a", "b"}, "ui://workbench/c/d/e", "ui://workbench/a/b/ui%3A%2F%2Fworkbench%2Fc%2Fd%2Fe"},
		{origin{"a", "b"}, "skill://x/SKILL.md", "workbench://a/b//skill://x/SKILL.md"},
		{origin{"a", "b"}, "file:///100%25", "workbench://a/b/file%3A%2F%2F%2F100%2525"},
	} {
		got := test.origin.rename(test.uri)
		if got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestParseRenamedRefuses(t *testing.T) {
	for _, uri := range []string{
		"", "file:///a", "workbench://", "workbench://a", "workbench://a/b", "workbench://a/b/", "workbench:///b/c",
		"workbench://a//c", "workbench://a/b/c/d", "workbench://a/b//", "workbench:////x", "workbench://%/b//x", "workbench://a/b/%", "workbench://a/b/%zz", "workbench:a/b/c", "ui://a/b/c", "ui://workbench", "ui://workbench/a/b", "ui://workbench/a/b/c/d",
	} {
		if o, original, ok := parseRenamed(uri); ok {
			t.Errorf("%q is %v %q", uri, o, original)
		}
	}
}

func FuzzRename(f *testing.F) {
	f.Add("dev", "files", "file:///a b")
	f.Add("a/b", "%2F", "\xff")
	f.Fuzz(func(t *testing.T, toolbox, server, uri string) {
		if toolbox == "" || server == "" || uri == "" {
			return
		}
		want := origin{toolbox, server}
		o, original, ok := parseRenamed(want.rename(uri))
		if !ok || o != want || original != uri {
			t.Errorf("%v %q came back as %v %q", want, uri, o, original)
		}
		o, original, ok = parseRenamed(want.renameTemplate(uri))
		if !ok || o != want || original != uri {
			t.Errorf("the template %v %q came back as %v %q", want, uri, o, original)
		}
	})
}

func TestURINames(t *testing.T) {
	a, b := origin{"t", "a"}, origin{"t", "b"}
	var c uriNames
	for _, step := range []struct {
		origin origin
		uri    string
		want   string
	}{
		{a, "x:1", "x:1"},
		{b, "x:1", b.rename("x:1")},
		{b, "x:2", "x:2"},
		{a, "x:2", a.rename("x:2")},
		{a, "x:1", "x:1"},
		{b, "x:1", b.rename("x:1")},
		{a, "workbench://t/b/x", a.rename("workbench://t/b/x")},
		{b, "ui://workbench/t/a/x", b.rename("ui://workbench/t/a/x")},
	} {
		if got := c.assign(step.origin, step.uri); got != step.want {
			t.Errorf("%v %q is %q, want %q", step.origin, step.uri, got, step.want)
		}
		if got, renamed := c.lookup(step.origin, step.uri); got != step.want || renamed == strings.HasPrefix(step.want, "x:") {
			t.Errorf("%v %q is known as %q, want %q", step.origin, step.uri, got, step.want)
		}
	}
	if got, renamed := c.lookup(b, "x:unlisted"); renamed || got != "x:unlisted" {
		t.Errorf("a URI that was never listed is known as %q", got)
	}
}
