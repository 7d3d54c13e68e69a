package stored

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Of a kind that is folders, folders are found, and neither files nor links to folders.
func TestFindFolders(t *testing.T) {
	state := t.TempDir()
	folder := filepath.Join(state, "sandbox-cache", "one")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "sandbox-cache", "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.Symlink(t.TempDir(), filepath.Join(state, "sandbox-cache", "link")) // not everywhere allowed
	found, err := Find(map[Place]string{State: state})
	if err != nil || len(found) != 1 || found[0].Path != folder || !found[0].Kind.Folders {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestCheck(t *testing.T) {
	hash := strings.Repeat("0a", 32) + "\n"
	for _, test := range []struct {
		content string
		newer   string // the format in the error; "": none
	}{
		{"", ""},
		{"{}", ""},
		{"not JSON", ""},
		{`{"version":1}`, ""},
		{`{"version":2,"tools":[]}`, ""},
		{`{"version":3}`, "3"},
		{"{\n  \"format\" : 3 ,\n", "3"},
		{hash + `{"version":12}`, "12"},
		{`{"seq":17,"format":3,"time":1}`, "3"},
		{`{"tokens":[],"version":3}`, "3"},
		{`{"version":99999999999999999999}`, "unknown"},
		{`{"version":"3"}`, "3"},
		{`{"version":-1}`, ""},
		{`{"version":2.5}`, ""},
		{`{"service":{"version":9}}`, ""},
		{"mcp-workbench hops key 3\nab\n", "3"},
		{"mcp-workbench hops key 2\nab\n", ""},
	} {
		err := HopsKey.Check("/x/FILE", []byte(test.content))
		if (err != nil) != (test.newer != "") || IsNewer(err) != (test.newer != "") {
			t.Errorf("%q: %v", test.content, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "/x/FILE was written by a newer mcp-workbench (format "+test.newer+", this one knows 2)\n") {
			t.Errorf("%q: %v", test.content, err)
		}
	}
}

func TestFindLeavesWhatIsNotOurs(t *testing.T) {
	state, elsewhere := t.TempDir(), t.TempDir()
	write := func(path, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(state, "tokens.json"), `{"version":7}`)
	write(filepath.Join(state, "trust", "a.json"), `{}`)
	write(filepath.Join(state, "trust", "mine.txt"), "mine")
	write(filepath.Join(state, "mine.json"), "mine")
	write(filepath.Join(elsewhere, "b.json"), `{}`)
	for link, target := range map[string]string{"logins": elsewhere, "trust/b.json": filepath.Join(elsewhere, "b.json")} {
		if err := os.Symlink(target, filepath.Join(state, link)); err != nil {
			t.Skip(err)
		}
	}
	found, err := Find(map[Place]string{State: state, Config: filepath.Join(state, "gone")})
	if err != nil || len(found) != 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	if found[0].Kind != Tokens || !IsNewer(found[0].Newer) || found[1].Kind != Trust || found[1].Newer != nil || found[1].Size != 2 {
		t.Errorf("%+v", found)
	}
}
