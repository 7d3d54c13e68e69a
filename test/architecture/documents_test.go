package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The index lists every document once, the README links to the index, and CONTRIBUTING explains the Makefile's targets.
func TestDocumentsAndTargetsAreListed(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	index := read("docs/README.md")
	if !strings.Contains(read("README.md"), "(docs/README.md)") {
		t.Error("the README does not link to the index of the documents")
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("there are no documents", err)
	}
	for _, page := range pages {
		name := filepath.Base(page)
		if n := strings.Count(index, "]("+name+")"); n != 1 && name != "README.md" {
			t.Errorf("docs/README.md lists %s %d times", name, n)
		}
	}
	contributing := read("CONTRIBUTING.md")
	targets := regexp.MustCompile(`(?m)^([a-z0-9-]+):`).FindAllStringSubmatch(read("Makefile"), -1)
	if len(targets) == 0 {
		t.Fatal("the Makefile has no targets")
	}
	for _, target := range targets {
		if !regexp.MustCompile("(?m)^\\| `make " + target[1] + "[` ]").MatchString(contributing) {
			t.Errorf("CONTRIBUTING.md does not tell of 'make %s'", target[1])
		}
	}
}
