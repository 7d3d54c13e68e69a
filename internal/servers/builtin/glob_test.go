package builtin

import "testing"

func TestGlob(t *testing.T) {
	for _, test := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "any/thing", true},
		{"*.go", "a.go", true},
		{"*.go", "x/y/a.go", true},
		{"*.go", "x/y/a.gone", false},
		{"./*.go", "x/a.go", true},
		{"x/*.go", "x/a.go", true},
		{"x/*.go", "x/y/a.go", false},
		{"x/**/*.go", "x/a.go", true},
		{"x/**/*.go", "x/y/z/a.go", true},
		{"x/**", "x/y/z", true},
		{"x/**", "y/x", false},
		{"**/y/**/b", "y/a/y/c/b", true},
		{"**/y/**/b", "y/a/y/c/d", false},
		{"**", "a/b", true},
		{"*.{ts,tsx}", "a.tsx", true},
		{"*.{ts,tsx}", "a.js", false},
		{"{a,b{c,d}}/*", "bd/x", true},
		{"{a,b{c,d}}/*", "b/x", false},
		{"[a-c]?.txt", "bä.txt", true},
		{"日*", "x/日本.txt", true},
		{"}{", "}{", true},
	} {
		g, err := parseGlob(test.pattern)
		if err != nil {
			t.Errorf("%s: %v", test.pattern, err)
			continue
		}
		if got := g.match(test.name); got != test.want {
			t.Errorf("%s matches %s is %v", test.pattern, test.name, got)
		}
	}
}
