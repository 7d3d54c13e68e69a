package toolbox

import (
	"strings"
	"testing"
)

func TestPatternMatches(t *testing.T) {
	for _, test := range []struct {
		pattern Pattern
		ref     string // with | between the parts
		want    bool
	}{
		{"*", "dev|files|read", true},
		{"**", "dev|files|read", true},
		{"", "dev|files|read", false},
		{"dev/files/read", "dev|files|read", true},
		{"dev/files/read", "dev|files|read_all", false},
		{"dev/files/read", "dev|files|rea", false},
		{"dev/files/read", "de|v/files|read", false},
		{"dev/*", "dev|files|read", true},
		{"dev/*", "dev2|files|read", false},
		{"dev/*", "prod|dev/|read", false},
		{"dev*", "dev2|files|read", true},
		{"*/*/delete_*", "prod|github|delete_repo", true},
		{"*/*/delete_*", "prod|github|undelete_repo", false},
		{"*/*/*delete*", "prod|github|undelete_repo", true},
		{"*/delete_*", "prod|github|delete_repo", true},
		{"*/read", "dev|files|read", true},
		{"*/read", "dev|files|read/x", false},
		{"*/github/*", "prod|github|x", true},
		{"*/github/*", "github|prod|x", false},
		{"*a*b*c", "xa|yb|zc", true},
		{"*a*b*c", "xa|yc|zb", false},
		{"*ab", "a|a|ab", true},
		{"*aab", "a|a|aaab", true},
		{"dev", "dev|files|read", false},
		{"dev/files/", "dev|files|read", false},
		{"DEV/*", "dev|files|read", false},
		{"dev/files/?ead", "dev|files|read", false},
		{"dev/files/[r]ead", "dev|files|read", false},
		{"dev/files/[r]ead", "dev|files|[r]ead", true},
		{`dev/files/\*`, "dev|files|read", false},
		{`dev/files/\*`, "dev|files|*", true},
		{`dev/files/a\*b*`, "dev|files|a*bc", true},
		{`dev/files/\\x`, `dev|files|\x`, true},
		{`dev/files/\read`, "dev|files|read", true},
		{"a/b/c/d", "a/b|c|d", true}, // names that hold slashes are not told apart: the stricter reading counts
		{"a/b/c/d", "a|b/c|d", true},
		{"dev/files/é*", "dev|files|école", true},
	} {
		parts := strings.Split(test.ref, "|")
		if got := test.pattern.Matches(Ref{parts[0], parts[1], parts[2]}); got != test.want {
			t.Errorf("%q matches %s: %t", test.pattern, test.ref, got)
		}
	}
}

func TestPatternMayMatch(t *testing.T) {
	for _, test := range []struct {
		pattern Pattern
		want    bool // for toolbox dev, server files
	}{
		{"*", true},
		{"dev/*", true},
		{"dev/files/*", true},
		{"dev/files/read", true},
		{"*/files/read", true},
		{"*/*/delete_*", true},
		{"*/delete_*", true},
		{"de*", true},
		{"*es/x", true},
		{"*/*é*é*", true},
		{"prod/*", false},
		{"dev", false},
		{"dev/files", false},
		{"dev/files/", false},
		{"dev/file/*", false},
		{"*/filse/*", false},
		{"*/x/y", false},
		{`dev/\*/x`, false},
		{"", false},
	} {
		if got := test.pattern.MayMatch("dev", "files"); got != test.want {
			t.Errorf("%q may match a tool of dev/files: %t", test.pattern, got)
		}
	}
}

func TestPatternCheck(t *testing.T) {
	for pattern, isGood := range map[Pattern]bool{`a`: true, `a\*`: true, `a\\`: true, `a\`: false, `\\\`: false} {
		if problem := pattern.Check(); (problem == "") != isGood {
			t.Errorf("%q: %q", pattern, problem)
		}
	}
}

func TestMatchingDoesNotAllocate(t *testing.T) {
	ref := Ref{"prod", "github", "delete_repo"}
	if n := testing.AllocsPerRun(100, func() { _ = Pattern("*/x*/*delete_*z").Matches(ref) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzPatternMatches compares the matcher with one that is slow and plain.
func FuzzPatternMatches(f *testing.F) {
	f.Add("*/*/delete_*", "prod", "github", "delete_repo")
	f.Add(`a\*b*`, "a*b", "", "x")
	f.Fuzz(func(t *testing.T, pattern, box, server, tool string) {
		if len(pattern) > 30 || len(box)+len(server)+len(tool) > 60 {
			return
		}
		p := Pattern(pattern)
		want := plainMatch(p, 0, box+"/"+server+"/"+tool)
		if got := p.Matches(Ref{box, server, tool}); got != want {
			t.Errorf("%q matches %q: %t", pattern, box+"/"+server+"/"+tool, got)
		}
		if want && tool != "" && !strings.Contains(tool, "/") && !p.MayMatch(box, server) {
			t.Errorf("%q matches %q, but not a tool of its server", pattern, box+"/"+server+"/"+tool)
		}
	})
}

func plainMatch(p Pattern, at int, text string) bool {
	literal, next, isStar, ok := p.next(at)
	switch {
	case !ok:
		return text == ""
	case isStar:
		return plainMatch(p, next, text) || text != "" && plainMatch(p, at, text[1:])
	}
	return text != "" && text[0] == literal && plainMatch(p, next, text[1:])
}
