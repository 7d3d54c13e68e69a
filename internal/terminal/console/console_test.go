package console

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func raw(t *testing.T, text string) wire.Payload {
	t.Helper()
	value, err := wire.ParseValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func entries(paths ...[3]string) (all []entry) {
	for _, path := range paths {
		all = append(all, entry{place{path[0], path[1]}, catalog.Tool{Name: path[2]}})
	}
	return all
}

func TestMatch(t *testing.T) {
	all := entries(
		[3]string{"dev", "files", "read"}, [3]string{"dev", "git", "read"}, [3]string{"ops", "git", "push"},
		[3]string{"ops", "git", "files/read"}, [3]string{"a", "b/c", "d"}, [3]string{"a/b", "c", "d"},
	)
	for _, test := range []struct {
		ref  string
		want []string
	}{
		{"dev/files/read", []string{"dev/files/read"}},
		{"read", []string{"dev/files/read", "dev/git/read"}},
		{"git/read", []string{"dev/git/read"}},
		{"push", []string{"ops/git/push"}},
		{"files/read", []string{"dev/files/read", "ops/git/files/read"}},
		{"b/c/d", []string{"a/b/c/d"}},
		{"dev/read", nil},
		{"Read", nil},
	} {
		if got := refs(match(test.ref, all)); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.ref, got, test.want)
		}
	}
}

func TestCandidates(t *testing.T) {
	places := []place{{"dev", "files"}, {"dev", "git"}, {"ops", "git"}, {"git", "git"}}
	for _, test := range []struct {
		ref  string
		want []place
	}{
		{"dev/files/read", places[:1]},
		{"files/read", places[:1]},
		{"git/read", places[1:]},
		{"git/git/read", places[3:]},
		{"read", places},
		{"files/", places},
	} {
		if got := candidates(test.ref, places); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.ref, got, test.want)
		}
	}
}

func TestNearest(t *testing.T) {
	all := entries([3]string{"dev", "files", "read_file"}, [3]string{"dev", "other", "read_file"}, [3]string{"dev", "files", "push"})
	for ref, want := range map[string][]string{
		"raed_file":           {"dev/files/read_file", "dev/other/read_file"},
		"dev/files/raed_file": {"dev/files/read_file", "dev/other/read_file"},
		"files/psh":           {"dev/files/push"},
		"something":           nil,
	} {
		if got := nearest(ref, all); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", ref, got, want)
		}
	}
}

func TestSelection(t *testing.T) {
	c := New(Options{Config: &config.Config{Toolboxes: []config.Toolbox{
		{Name: "dev", Servers: []config.Server{{Name: "files"}, {Name: "git"}, {Name: "off", Disabled: true}}},
		{Name: "ops", Servers: []config.Server{{Name: "git"}}},
	}}})
	for _, test := range []struct {
		name string
		want []place
		code toolbox.Code
	}{
		{"", []place{{"dev", "files"}, {"dev", "git"}, {"ops", "git"}}, ""},
		{"dev", []place{{"dev", "files"}, {"dev", "git"}}, ""},
		{"dev/git", []place{{"dev", "git"}}, ""},
		{"files", []place{{"dev", "files"}}, ""},
		{"git", nil, toolbox.AmbiguousName},
		{"off", nil, toolbox.ReferenceNotFound},
		{"nothing", nil, toolbox.ReferenceNotFound},
	} {
		got, err := c.selection(test.name)
		var code toolbox.Code
		if known, ok := errors.AsType[*toolbox.Error](err); ok {
			code = known.Code
		}
		if !slices.Equal(got, test.want) || code != test.code {
			t.Errorf("%q: got %v, %v; want %v, %s", test.name, got, err, test.want, test.code)
		}
	}
}

func TestFileName(t *testing.T) {
	for _, test := range []struct{ name, mimeType, want string }{
		{"get_image", "image/png", "get_image.png"},
		{"picture.png", "image/png", "picture.png"},
		{"picture.PNG", "image/png", "picture.PNG"},
		{"picture.exe", "image/png", "picture.exe.png"},
		{"../../etc/passwd", "", "etc-passwd.bin"},
		{".bashrc", "text/plain; charset=utf-8", "bashrc.txt"},
		{"..", "", "result.bin"},
		{"\x1b[2J böse", "audio/wav", "2J-b-se.wav"},
		{strings.Repeat("x", 300), "image/png", strings.Repeat("x", maxBaseName) + ".png"},
		{"data.tar", "", "data.tar"},
	} {
		base, extension := fileName(test.name, test.mimeType)
		if got := base + extension; got != test.want {
			t.Errorf("%q, %q: got %q, want %q", test.name, test.mimeType, got, test.want)
		}
	}
}

func TestSaveWritesOverNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), filepath.Join(dir, "x.png")); err != nil {
		t.Skip(err)
	}
	for _, want := range []string{"x-2.png", "x-3.png"} {
		path, err := folder{dir}.save("x", "image/png", []byte(want))
		if err != nil || filepath.Base(path) != want {
			t.Fatalf("got %s, %v; want %s", path, err, want)
		}
		if content, err := os.ReadFile(path); err != nil || string(content) != want {
			t.Errorf("%s holds %q, %v", path, content, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "elsewhere")); !errors.Is(err, os.ErrNotExist) {
		t.Error("it wrote through a link")
	}
}

func TestMediaThatIsNone(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	p := presenter{screen: tty.New(&out, nil, func(string) string { return "" }), files: folder{dir}, name: "x"}
	if err := p.present(raw(t, `{"content":[{"type":"image","mimeType":"image/png","data":"no base64!"},{"type":"image","data":5}]}`)); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 || p.blocks != 2 || !strings.Contains(out.String(), "no base64!") {
		t.Errorf("%d files, %v, shown:\n%s", len(files), err, &out)
	}
	encoded := base64.StdEncoding.EncodeToString([]byte("sound"))
	if err := p.block(raw(t, `{"type":"audio","mimeType":"audio/mpeg","data":"`+encoded+`"}`)); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(filepath.Join(dir, "x.mp3")); err != nil || string(content) != "sound" {
		t.Errorf("saved %q, %v", content, err)
	}
}

func TestTakeOfAField(t *testing.T) {
	const form = `{"properties":{
		"text":{"type":"string","minLength":2},"date":{"type":"string","format":"date"},"when":{"type":"string","format":"date-time"},
		"page":{"type":"string","format":"uri"},"mail":{"type":"string","format":"email"},"number":{"type":"number"},
		"named":{"type":"string","enum":["1","2"],"enumNames":["One","Two"]},
		"list":{"type":"array","items":{"type":"integer"},"maxItems":2},
		"titled":{"type":"array","items":{"anyOf":[{"const":"x","title":"The X"},{"const":"y","title":"The Y"}]}},
		"on":{"type":"boolean"}}}`
	fields := make(map[string]field)
	for _, f := range fieldsOf(raw(t, form)) {
		fields[f.name] = f
	}
	for _, test := range []struct{ field, typed, value, problem string }{
		{"text", "50", `"50"`, ""},
		{"text", "x", "", "'text' takes at least 2 characters, not 1"},
		{"date", "2026-02-28", `"2026-02-28"`, ""},
		{"date", "2026-02-30", "", "Type a date such as 2026-01-31."},
		{"when", "2026-02-28T10:00:00+01:00", `"2026-02-28T10:00:00+01:00"`, ""},
		{"when", "noon", "", "Type a time such as 2026-01-31T12:00:00Z."},
		{"page", "example.com", "", "That is no address such as https://example.com."},
		{"mail", "Ada <ada@example.com>", "", "That is no e-mail address."},
		{"mail", "ada@example.com", `"ada@example.com"`, ""},
		{"number", "1e3", "1e3", ""},
		{"number", "much", "", "That is no number."},
		{"named", "Two", `"2"`, ""},
		{"named", "1", `"1"`, ""},
		{"named", "3", "", "Type a number from 1 to 2."},
		{"list", "1, 2", "[1,2]", ""},
		{"list", "1,2,3", "", "'list' takes at most 2 values, not 3"},
		{"titled", "2,The X", `["y","x"]`, ""},
		{"on", "Yes", "true", ""},
		{"on", "maybe", "", "Type y or n."},
	} {
		value, problem := fields[test.field].parse(test.typed)
		if problem != test.problem || problem == "" && string(value) != test.value {
			t.Errorf("%s %q: got %s, %q; want %s, %q", test.field, test.typed, value, problem, test.value, test.problem)
		}
	}
}

func TestOnlyKeepsTheRest(t *testing.T) {
	cfg := &config.Config{MaxMessageSize: 7, Toolboxes: []config.Toolbox{
		{Name: "a", Servers: []config.Server{{Name: "x"}, {Name: "y"}}}, {Name: "b", Servers: []config.Server{{Name: "x"}}},
	}}
	got := restrictTo(cfg, []place{{"a", "y"}})
	if len(got.Toolboxes) != 1 || len(got.Toolboxes[0].Servers) != 1 || got.Toolboxes[0].Servers[0].Name != "y" || got.MaxMessageSize != 7 {
		t.Errorf("got %+v", got)
	}
	if len(cfg.Toolboxes) != 2 || len(cfg.Toolboxes[0].Servers) != 2 {
		t.Error("it changed the configuration")
	}
}

func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{"dev/files/read": "dev/files/read", "a b": "'a b'", "it's": `'it'\''s'`, "": "''", "$(x)": "'$(x)'"} {
		if got := quoted(word); got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
}
