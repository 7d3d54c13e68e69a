package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every guarantee of docs/guarantees.md has a script that exists, and the README promises none that is not there.
func TestGuaranteesHaveScripts(t *testing.T) {
	given := guarantees(t, "../../docs/guarantees.md", "# Guarantees\n")
	scripts := scriptsByGuarantee(t)
	for guarantee := range given {
		if len(scripts[guarantee]) == 0 {
			t.Errorf("docs/guarantees.md names no script for %q", guarantee)
		}
	}
	for guarantee, names := range scripts {
		if !given[guarantee] {
			t.Errorf("docs/guarantees.md has scripts for %q, which it does not promise", guarantee)
		}
		for _, name := range names {
			if _, err := os.Stat(filepath.Join("../script", name+".txtar")); err != nil {
				t.Errorf("%q: there is no script %s", guarantee, name)
			}
		}
	}
	for guarantee := range guarantees(t, "../../README.md", "\n## Guarantees\n") {
		if !given[guarantee] {
			t.Errorf("the README promises %q, which docs/guarantees.md does not have", guarantee)
		}
	}
}

// guarantees returns what a page promises: the bold beginnings of the list below a heading.
func guarantees(t *testing.T, page, heading string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), heading)
	section, _, _ = strings.Cut(section, "\n## ")
	given := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^- \*\*(.+?)\.?\*\*`).FindAllStringSubmatch(section, -1) {
		given[match[1]] = true
	}
	if len(given) < 5 {
		t.Fatalf("found only %d guarantees in %s: is it written in another form?", len(given), page)
	}
	return given
}

// scriptsByGuarantee reads the table of docs/guarantees.md. A row without a guarantee belongs to the one above it.
func scriptsByGuarantee(t *testing.T) map[string][]string {
	page, err := os.ReadFile("../../docs/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| (?:\\*\\*(.+?)\\*\\* )?\\| `([a-z0-9_/]+)` \\|")
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
