package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every guarantee of the README stands in docs/guarantees.md with a script that exists, and none stands there that the
// README does not give.
func TestGuaranteesHaveScripts(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(readme), "\n## Guarantees\n")
	if !found {
		t.Fatal("the README has no guarantees")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	given := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^- \*\*(.+?)\.?\*\*`).FindAllStringSubmatch(section, -1) {
		given[match[1]] = true
	}
	scripts := scriptsByGuarantee(t)
	for guarantee := range given {
		if len(scripts[guarantee]) == 0 {
			t.Errorf("docs/guarantees.md names no script for %q", guarantee)
		}
	}
	for guarantee, names := range scripts {
		if !given[guarantee] {
			t.Errorf("docs/guarantees.md has %q, which the README does not promise", guarantee)
		}
		for _, name := range names {
			if _, err := os.Stat(filepath.Join("../script", name+".txtar")); err != nil {
				t.Errorf("%q: there is no script %s", guarantee, name)
			}
		}
	}
	if len(given) < 5 {
		t.Errorf("found only %d guarantees: is the README written in another form?", len(given))
	}
}

// scriptsByGuarantee reads the table of docs/guarantees.md. A row without a guarantee belongs to the one above it.
func scriptsByGuarantee(t *testing.T) map[string][]string {
	page, err := os.ReadFile("../../docs/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| (?:\\*\\*(.+?)\\*\\* )?\\| `([a-z0-9_]+)` \\|")
	scripts := map[string][]string{}
	guarantee := ""
	for _, match := range row.FindAllStringSubmatch(string(page), -1) {
		if match[1] != "" {
			guarantee = match[1]
		}
		scripts[guarantee] = append(scripts[guarantee], match[2])
	}
	return scripts
}
