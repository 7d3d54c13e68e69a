package jsonc

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
)

var seeds = []string{
	"{}", "{\n}", "{ /* c */ }", `{"a": 1}`, `{"a": {"b": [1, 2,],},}`,
	"{\n  // above\n  \"a\": 1, // behind\n\n  \"b\": {\n    \"c\": null\n  } // end\n  // rest\n}\n",
	"{\r\n\t\"a\": \"x\",\r\n\t\"b\": \"y\"\r\n}", "{\n\"a\": \"\"\r\n}", "{\"a\": 1,\n \"b\": 2}", "{\"a\": 1 // one\n, \"b\" /* x */ : 2}\n// end",
}

func FuzzSet(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed), "a.c", `{"d": [1, {"e": 2}]}`)
		f.Add([]byte(seed), "n", `"x"`)
	}
	f.Fuzz(func(t *testing.T, source []byte, dotted, value string) {
		path := strings.Split(dotted, ".")
		before, err := parse(source)
		if err != nil {
			return
		}
		added, err := parse([]byte(value))
		if err != nil {
			return
		}
		result, err := Set(source, path, []byte(value))
		if errors.Is(err, errUnsafe) {
			t.Fatalf("%q: gave up", source)
		}
		if err != nil {
			return
		}
		after, err := parse(result)
		if err != nil {
			t.Fatal(err)
		}
		found, depth, err := after.walk(path)
		if err != nil || depth < len(path) || !equal(found, &added.root) {
			t.Fatalf("%q: the value is not there: %q", source, result)
		}
		was, depth, err := before.walk(path)
		if err != nil {
			t.Fatal(err)
		}
		if depth == len(path) {
			sameAround(t, source, result, was, found)
			return
		}
		if comments(before) != comments(after) {
			t.Fatalf("%q: comments changed: %q", source, result)
		}
		back, err := Remove(result, path[:depth+1])
		if err != nil {
			t.Fatal(err)
		}
		if object := was.Value.(*hujson.Object); len(object.Members) > 0 && !bytes.Equal(unmixed(source, back), unmixed(source, source)) {
			t.Fatalf("%q became %q, and then %q", source, result, back)
		}
	})
}

// unmixed returns a text to compare: where the source has line endings of both kinds, either may be left.
func unmixed(source, text []byte) []byte {
	if windows := bytes.Count(source, []byte("\r\n")); windows == 0 || windows == bytes.Count(source, []byte("\n")) {
		return text
	}
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
}

// sameAround checks that nothing changed before and behind a value.
func sameAround(t *testing.T, source, result []byte, was, is *hujson.Value) {
	t.Helper()
	if bytes.Equal(source, result) {
		return
	}
	mark := len(source) - len(bytes.TrimPrefix(source, byteOrderMark))
	if !bytes.Equal(source[:mark+was.StartOffset], result[:mark+is.StartOffset]) ||
		!bytes.Equal(source[mark+was.EndOffset:], result[mark+is.EndOffset:]) {
		t.Fatalf("%q became %q", source, result)
	}
}

func FuzzRemove(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed), "a")
		f.Add([]byte(seed), "b.c")
	}
	f.Fuzz(func(t *testing.T, source []byte, dotted string) {
		path := strings.Split(dotted, ".")
		result, err := Remove(source, path)
		if errors.Is(err, errUnsafe) {
			t.Fatalf("%q: gave up", source)
		}
		if err != nil {
			return
		}
		after, err := parse(result)
		if err != nil {
			t.Fatal(err)
		}
		if _, depth, err := after.walk(path); err == nil && depth == len(path) {
			t.Fatalf("%q: it is still there: %q", source, result)
		}
		// What is left of the text, and of its comments, is in the old order.
		if rest := withoutSpace(result); !isWithin(rest, withoutSpace(source)) {
			t.Fatalf("%q became %q", source, result)
		}
	})
}

// comments returns all comments of a file.
func comments(d *document) string {
	var found []string
	for at := 0; at < len(d.text); at++ {
		switch d.text[at] {
		case '"':
			for at++; d.text[at] != '"'; at++ {
				if d.text[at] == '\\' {
					at++
				}
			}
		case '/':
			end := commentEnd(d.text, at)
			found = append(found, string(d.text[at:end]))
			at = end - 1
		}
	}
	return strings.Join(found, "\n")
}

func withoutSpace(text []byte) []byte {
	return slices.DeleteFunc(bytes.Clone(text), isSpace)
}

// isWithin reports that part is left when bytes of whole are taken out.
func isWithin(part, whole []byte) bool {
	for _, c := range whole {
		if len(part) > 0 && part[0] == c {
			part = part[1:]
		}
	}
	return len(part) == 0
}
