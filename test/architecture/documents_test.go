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

// Every relative link of the documents leads to a file that exists and, with an anchor, to a heading of it.
func TestLinksResolve(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "test/script/README.md"} {
		pages = append(pages, filepath.Join("../..", name))
	}
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	found := 0
	for _, page := range pages {
		text, _ := readDocument(t, page)
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			found++
			to := page
			if target != "" {
				to = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, match[1])
				continue
			}
			if anchor == "" {
				continue
			}
			if _, anchors := readDocument(t, to); !anchors[anchor] {
				t.Errorf("%s links to %s, which has no such heading", page, match[1])
			}
		}
	}
	if found < 100 {
		t.Errorf("found only %d links: are they written in another form?", found)
	}
}

// readDocument returns the text of a document without its code, and the anchors of its headings, as GitHub makes them.
func readDocument(t *testing.T, page string) (text string, anchors map[string]bool) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(string(data), "")
	anchors = make(map[string]bool)
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		anchor := strings.ToLower(strings.TrimSpace(heading[1]))
		anchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`).ReplaceAllString(anchor, "")
		anchors[strings.ReplaceAll(anchor, " ", "-")] = true
	}
	return regexp.MustCompile("`[^`\n]*`").ReplaceAllString(text, ""), anchors
}
