// Package docs holds the pages that the program itself shows: what each error code means.
package docs

import (
	_ "embed"
	"strings"
)

//go:embed errors.md
var errorsPage string

// Section explains one error code: paragraphs and lists of a page, with its marks.
type Section struct{ Code, Text string }

// Errors returns the explanations of all codes, in the order of the page.
func Errors() []Section {
	var sections []Section
	for _, part := range strings.Split(errorsPage, "\n## ")[1:] { // before it is the introduction
		code, text, _ := strings.Cut(part, "\n")
		sections = append(sections, Section{code, strings.TrimSpace(text)})
	}
	return sections
}
