package architecture

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every contract script is in a folder by its subject, and test/script/README.md says what belongs into each folder.
func TestScriptsAreInFoldersBySubject(t *testing.T) {
	readme, err := os.ReadFile("../script/README.md")
	if err != nil {
		t.Fatal(err)
	}
	outside, err := filepath.Glob("../script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range outside {
		t.Errorf("test/script/%s: move it into the folder of its subject; test/script/README.md lists them", filepath.Base(script))
	}
	scripts, err := filepath.Glob("../script/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, script := range scripts {
		folders = append(folders, filepath.Base(filepath.Dir(script)))
	}
	folders = slices.Compact(folders)
	for _, folder := range folders {
		if !strings.Contains(string(readme), "\n| `"+folder+"` |") {
			t.Errorf("test/script/README.md has no row for the folder %s", folder)
		}
	}
	if len(folders) < 20 {
		t.Errorf("found only %d folders of scripts", len(folders))
	}
}
