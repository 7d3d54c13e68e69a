package config

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func lookupTest(name string) (string, bool) {
	value, ok := map[string]string{"A": "one", "B_2": "two", "_": "under", "EMPTY": "", "TRICK": "${A} $${ ${", "PATHLIKE": "a/b"}[name]
	return value, ok
}

func TestExpand(t *testing.T) {
	for _, test := range []struct {
		in   string
		want expansion
	}{
		{"", expansion{}},
		{"plain $A $ } {", expansion{text: "plain $A $ } {"}},
		{"${A}", expansion{text: "one", values: []string{"one"}}},
		{"<${A}|${B_2}|${_}>", expansion{text: "<one|two|under>", values: []string{"one", "two", "under"}}},
		{"${EMPTY}", expansion{values: []string{""}}},
		{"${EMPTY:-x}", expansion{values: []string{""}}},
		{"${NO}", expansion{text: "${NO}", unset: []string{"NO"}}},
		{"${NO}${NO}${NO2}", expansion{text: "${NO}${NO}${NO2}", unset: []string{"NO", "NO2"}}},
		{"${NO:-}", expansion{values: []string{""}}},
		{"${NO:-a b:-c}", expansion{text: "a b:-c", values: []string{"a b:-c"}}},
		{"${A:-x}", expansion{text: "one", values: []string{"one"}}},
		// One pass: what a value holds is not looked at.
		{"${TRICK}", expansion{text: "${A} $${ ${", values: []string{"${A} $${ ${"}}},
		// A default ends at the first brace.
		{"${NO:-{x}}", expansion{text: "{x}", values: []string{"{x"}}},
		{"${NO:-${A}}", expansion{text: "${A}", values: []string{"${A"}, literal: []string{"${NO:-${…}}"}}},
		{"${NO:-$${A}}", expansion{text: "${A}", values: []string{"${A"}}},
		// Escapes.
		{"$${", expansion{text: "${"}},
		{"$${A}", expansion{text: "${A}"}},
		{"$$${A}", expansion{text: "$${A}"}},
		{"$$A", expansion{text: "$$A"}},
		{"$${${A}", expansion{text: "${one", values: []string{"one"}}},
		// Look-alikes.
		{"${lower}", expansion{text: "${lower}", literal: []string{"${lower}"}}},
		{"${}", expansion{text: "${}", literal: []string{"${}"}}},
		{"${1A}", expansion{text: "${1A}", literal: []string{"${1A}"}}},
		{"${A:x}", expansion{text: "${A:x}", literal: []string{"${A…"}}},
		{"${A-x}", expansion{text: "${A-x}", literal: []string{"${A…"}}},
		{"${ A }", expansion{text: "${ A }", literal: []string{"${…"}}},
		{"${a ${A} b}", expansion{text: "${a one b}", values: []string{"one"}, literal: []string{"${a…"}}},
		// Unclosed.
		{"${", expansion{text: "${", unclosed: []string{""}, literal: []string{"${…"}}},
		{"x ${A", expansion{text: "x ${A", unclosed: []string{"A"}, literal: []string{"${A…"}}},
		{"${A:-x", expansion{text: "${A:-x", unclosed: []string{"A"}, literal: []string{"${A…"}}},
		{"${lower ${A}", expansion{text: "${lower one", values: []string{"one"}, unclosed: []string{"lower"}, literal: []string{"${lower…"}}},
		{"${NO:-${A}", expansion{text: "${A", values: []string{"${A"}, unclosed: []string{"NO"}, literal: []string{"${NO:-${…}}"}}},
		{"${A} ${" + strings.Repeat("Z", 50), expansion{
			text: "one ${" + strings.Repeat("Z", 50), values: []string{"one"},
			unclosed: []string{strings.Repeat("Z", 40)}, literal: []string{"${" + strings.Repeat("Z", 40) + "…"},
		}},
	} {
		if diff := cmp.Diff(test.want, expand(test.in, lookupTest), cmp.AllowUnexported(expansion{}), equateEmpty); diff != "" {
			t.Errorf("expand(%q) (-want +got):\n%s", test.in, diff)
		}
	}
}

var equateEmpty = cmp.FilterValues(
	func(a, b []string) bool { return len(a) == 0 && len(b) == 0 },
	cmp.Comparer(func(_, _ []string) bool { return true }))

// Strings that would cost the square of their length if each ${ looked for its
// brace through the rest of the string.
func TestExpandLongStrings(t *testing.T) {
	const size = 1 << 20
	for _, part := range []string{"${", "${a", "}", "$", "${A}", "${NO}"} {
		e := expand(strings.Repeat(part, size/len(part)), lookupTest)
		if len(e.literal) > 20 || len(e.unset) > 20 {
			t.Errorf("%q: %d look-alikes, %d unset", part, len(e.literal), len(e.unset))
		}
	}
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"${A}", "${NO:-x}", "$${A}", "${lower ${A}", "${", "${A:-${B_2}}", "}$", "é${_}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e := expand(s, lookupTest)
		if utf8.ValidString(s) && !utf8.ValidString(e.text) {
			t.Errorf("%q: invalid UTF-8 in %q", s, e.text)
		}
		if !strings.Contains(s, "${") && e.text != s {
			t.Errorf("%q became %q", s, e.text)
		}
		nothing := expand(s, func(string) (string, bool) { return "", false })
		if len(nothing.unset) == 0 && len(nothing.values) == 0 && strings.ReplaceAll(s, "$${", "${") != nothing.text {
			t.Errorf("%q became %q without a variable", s, nothing.text)
		}
	})
}
