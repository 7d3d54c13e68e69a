package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The README lists every document once, and the Makefile's targets are told of in CONTRIBUTING.
func TestDocumentsAndTargetsAreListed(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	_, list, found := strings.Cut(read("README.md"), "\n## Documents\n")
	if !found {
		t.Fatal("the README has no list of documents")
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("there are no documents", err)
	}
	for _, page := range pages {
		if n := strings.Count(list, "(docs/"+filepath.Base(page)+")"); n != 1 {
			t.Errorf("the README lists docs/%s %d times", filepath.Base(page), n)
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
