package passthrough

import (
	"regexp"
	"strings"
	"testing"
)

func TestTemplateMatches(t *testing.T) {
	for _, test := range []struct {
		template string
		matched  []string
		not      []string
	}{
		{"file:///fixed", []string{"file:///fixed"}, []string{"file:///fixe", "file:///fixed2", ""}},
		{"note://{id}", []string{"note://1", "note://a%20b", "note://a,b"}, []string{"note://", "note://a/b", "Note://1"}},
		{"note://{id}/text", []string{"note://1/text"}, []string{"note://1", "note:///text", "note://1/2/text"}},
		{"file:///{+path}", []string{"file:///a", "file:///a/b?c#d"}, []string{"file:///", "file://a"}},
		{"file://{/path*}", []string{"file://", "file:///a/b"}, []string{"file://a", "file:///a?b"}},
		{"db://{table}{?limit,offset}", []string{"db://t", "db://t?limit=1&offset=2"}, []string{"db://", "db://a/b"}},
		{"db://t?a=1{&b}", []string{"db://t?a=1", "db://t?a=1&b=2"}, []string{"db://t", "db://t?a=12"}},
		{"x://{name}{.ext}", []string{"x://a", "x://a.txt"}, []string{"x://a/.txt"}},
		{"x://a{.ext}", []string{"x://a", "x://a.txt"}, []string{"x://atxt"}},
		{"x://a{;p}", []string{"x://a", "x://a;p=1"}, []string{"x://ap"}},
		{"x://a{#part}", []string{"x://a", "x://a#b/c"}, []string{"x://ab"}},
		{"x://{a}-{b}", []string{"x://1-2", "x://1-2-3"}, []string{"x://1", "x://-2"}},
		{"x://{name:3}", []string{"x://abc"}, []string{"x://"}},
		{"x://{größe}", []string{"x://ä"}, nil},
		{"x://{", nil, []string{"x://{", "x://"}},
		{"x://{}", nil, []string{"x://{}", "x://"}},
		{"x://}{a", nil, []string{"x://}{a"}},
		{"x://{+}", nil, []string{"x://a"}},
		{"x://{|a}", nil, []string{"x://a"}},
		{"", nil, []string{"", "a"}},
		{strings.Repeat("{a}", maxTemplateRuns), []string{strings.Repeat("x", 40)}, []string{"x"}},
		{strings.Repeat("{a}", maxTemplateRuns+1), nil, []string{strings.Repeat("x", 40)}},
		{"{+a}", nil, []string{strings.Repeat("x", maxMatchedURI+1)}},
	} {
		parsed := parseTemplate(test.template)
		for _, uri := range test.matched {
			if !parsed.matches(uri) {
				t.Errorf("%q does not match %q", test.template, uri)
			}
		}
		for _, uri := range test.not {
			if parsed.matches(uri) {
				t.Errorf("%q matches %q", test.template, uri)
			}
		}
	}
}

// The matcher says what a regular expression made of the same parts says. Both match bytes, which the expression sees as characters.
func FuzzTemplateMatches(f *testing.F) {
	f.Add("file:///{+path}", "file:///a/b")
	f.Add("x://{a}{.b}{/c*}{;d}{?e}{&f}{#g}", "x://a.b/c;d?e&f#g")
	f.Add("{a}{b}{c}", "xyz")
	f.Add("{a}{b}", "Ï")
	f.Fuzz(func(t *testing.T, text, uri string) {
		parsed := parseTemplate(text)
		if parsed.parts == nil || len(uri) > 1000 || len(text) > 1000 {
			return
		}
		var expression strings.Builder
		for _, p := range parsed.parts {
			switch {
			case !p.isRun:
				expression.WriteString(regexp.QuoteMeta(byBytes(p.literal)))
			case p.lead == 0:
				expression.WriteString(class(p.stop) + "+")
			default:
				expression.WriteString("(?:" + regexp.QuoteMeta(string(p.lead)) + class(p.stop) + "*)?")
			}
		}
		compiled := regexp.MustCompile(`(?s)\A(?:` + expression.String() + `)\z`)
		if got, want := parsed.matches(uri), compiled.MatchString(byBytes(uri)); got != want {
			t.Errorf("%q and %q: %t, want %t", text, uri, got, want)
		}
	})
}

// byBytes returns a text with a character for each byte of another.
func byBytes(text string) string {
	characters := make([]rune, len(text))
	for i := range len(text) {
		characters[i] = rune(text[i])
	}
	return string(characters)
}

func class(stop string) string {
	if stop == "" {
		return "."
	}
	return "[^" + stop + "]"
}
