package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRecipeOfTheRepository(t *testing.T) {
	r, err := readRecipe(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	targets, err := r.targets(nil)
	if err != nil || len(targets) != 6 {
		t.Errorf("targets: %v, %v", targets, err)
	}
	if mode := r.Archives[0].Files[0].Info.Mode; mode != 0o644 {
		t.Errorf("a mode was read as %o", mode)
	}
}

// What goreleaser would do, and we would not, must not pass in silence.
func TestRecipeRefused(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", recipeFile))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ old, new, want string }{
		"an unknown part":       {"snapshot:\n", "upx: []\nsnapshot:\n", "field upx not found"},
		"an unknown key":        {"    section: utils", "    section: utils\n    epoch: 2", "field epoch not found"},
		"a second archive":      {"archives:\n", "archives:\n  - id: other\n", "one of builds, archives and nfpms"},
		"another rule":          {"incpatch", "incminor", "version_template"},
		"another kind of check": {"algorithm: sha256", "algorithm: md5", "sha256 only"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(string(text), test.old, test.new, 1)
			if changed == string(text) {
				t.Fatalf("the recipe has no '%s'", test.old)
			}
			_, err := parseRecipe([]byte(changed))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want '%s'", err, test.want)
			}
		})
	}
}

func TestTemplatesKnowTheirNames(t *testing.T) {
	if out, err := expand("{{ .Missing }}", map[string]any{}); err == nil {
		t.Errorf("an unknown name became '%s'", out)
	}
}

func TestVersionOf(t *testing.T) {
	tests := []struct {
		exact, last string
		dirty       bool
		want        string // "": an error
	}{
		{exact: "v1.2.3", last: "v1.2.3", want: "1.2.3"},
		{exact: "v1.2.3-rc.1", last: "v1.2.3-rc.1", want: "1.2.3-rc.1"},
		{exact: "v1.2.3", last: "v1.2.3", dirty: true, want: "1.2.4-dev.g0abc.dirty"},
		{last: "v1.2.3", want: "1.2.4-dev.g0abc"},
		{last: "v0.0.0", want: "0.0.1-dev.g0abc"},
		{exact: "v1.2", last: "v1.2"},
		{last: "version1"},
	}
	for _, test := range tests {
		got, err := versionOf(test.exact, test.last, "0abc", test.dirty)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%+v: got '%s', %v", test, got, err)
		}
	}
}

func TestClearFolderKeepsWhatOthersMade(t *testing.T) {
	dir := t.TempDir()
	if err := clearFolder(dir); err != nil {
		t.Fatal("an empty folder: ", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "old.tar.gz"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := clearFolder(dir); err != nil {
		t.Fatal("a folder of ours: ", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "old.tar.gz")); err == nil {
		t.Error("an old file is still there")
	}

	other := t.TempDir()
	precious := filepath.Join(other, "precious")
	if err := os.WriteFile(precious, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := clearFolder(other); err == nil {
		t.Error("a folder that is not ours was taken")
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}
