package builtin

import (
	"path"
	"strings"
)

const (
	maxGlobLength = 256 // characters of a glob; a longer one is refused
	maxGlobForms  = 64  // forms of a glob with its braces expanded; more are refused
)

// glob matches slash-separated paths. Without a slash it matches the last element only. "**" matches any number of
// folders, and {a,b} matches a or b. The zero value matches everything.
type glob struct {
	forms [][]string
}

func parseGlob(pattern string) (glob, error) {
	if pattern == "" {
		return glob{}, nil
	}
	if len(pattern) > maxGlobLength {
		return glob{}, refuse("Use a shorter pattern.", "The glob is %d bytes long, and may be %d.", len(pattern), maxGlobLength)
	}
	var g glob
	for pending := []string{pattern}; len(pending) > 0; {
		form := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if choices := expand(form); choices != nil {
			pending = append(pending, choices...)
			if len(pending)+len(g.forms) > maxGlobForms {
				return glob{}, refuse("Use fewer braces.", "The glob %q stands for more than %d patterns.", pattern, maxGlobForms)
			}
			continue
		}
		form = strings.TrimPrefix(form, "./")
		if !strings.Contains(form, "/") {
			form = "**/" + form
		}
		elements := strings.Split(form, "/")
		for _, element := range elements {
			if _, err := path.Match(element, ""); err != nil {
				return glob{}, refuse(`Use *, ?, [a-z], {a,b} and **, as in "**/*.{go,md}".`, "The glob %q is malformed.", pattern)
			}
		}
		g.forms = append(g.forms, elements)
	}
	return g, nil
}

// expand expands the first innermost braces of the pattern. It returns nil if there are none.
func expand(pattern string) []string {
	end := strings.IndexByte(pattern, '}')
	if end < 0 {
		return nil
	}
	start := strings.LastIndexByte(pattern[:end], '{')
	if start < 0 {
		return nil
	}
	var choices []string
	for choice := range strings.SplitSeq(pattern[start+1:end], ",") {
		choices = append(choices, pattern[:start]+choice+pattern[end+1:])
	}
	return choices
}

func (g glob) match(name string) bool {
	if g.forms == nil {
		return true
	}
	elements := strings.Split(name, "/")
	for _, form := range g.forms {
		if matchElements(form, elements) {
			return true
		}
	}
	return false
}

// matchElements backtracks only to the last "**": an earlier one could not match more, and this keeps the work
// quadratic.
func matchElements(form, elements []string) bool {
	f, e := 0, 0
	retryForm, retryElement := -1, 0
	for e < len(elements) {
		if f < len(form) && form[f] == "**" {
			retryForm, retryElement = f, e
			f++
			continue
		}
		if f < len(form) {
			// parseGlob checked the pattern, so that the error is always nil.
			if ok, _ := path.Match(form[f], elements[e]); ok {
				f++
				e++
				continue
			}
		}
		if retryForm < 0 {
			return false
		}
		retryElement++
		f, e = retryForm+1, retryElement
	}
	for f < len(form) && form[f] == "**" {
		f++
	}
	return f == len(form)
}
