package jsonc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const boxes = `{
  // all of them
  "a": {
    // of x
    "x": {
      "args": ["1"], // one
      /* nothing */
    }, // behind x

    "y": {"k": 1},
  },
  "b": {
    "z": 1
  },
  "e": {}
}
`

func TestMove(t *testing.T) {
	for _, test := range []struct{ name, source, from, to, want string }{
		{"with comments", boxes, "a.x", "b.x", `{
  // all of them
  "a": {

    "y": {"k": 1},
  },
  "b": {
    "z": 1,
    // of x
    "x": {
      "args": ["1"], // one
      /* nothing */
    } // behind x
  },
  "e": {}
}
`},
		{"into an empty object, under another name", boxes, "a.y", "e.w", strings.Replace(strings.Replace(boxes, `

    "y": {"k": 1},`, "", 1), `"e": {}`, `"e": {
    "w": {"k": 1}
  }`, 1)},
		{"to another depth", "{\n  \"a\": {\n    \"x\": {\n      \"k\": 1 // c\n    }\n  },\n  \"b\": 1\n}\n", "a.x", "x", "{\n  \"a\": {},\n  \"b\": 1,\n  \"x\": {\n    \"k\": 1 // c\n  }\n}\n"},
		{"on one line", `{"a": {"x": {"k": 1 /* c */}}, "b": {}}`, "a.x", "b.x", `{"a": {}, "b": {"x": {"k": 1 /* c */}}}`},
		{
			"comments to one line", "{\n  \"a\": {\n    // of x\n    /* and\n       more */\n    \"x\": 1, // behind */\n    \"y\": 2\n  },\n  \"b\": {\"z\": 1}\n}\n", "a.x", "b.x",
			"{\n  \"a\": {\n    \"y\": 2\n  },\n  \"b\": {\"z\": 1, /* of x */ /* and more */ \"x\": 1 /* behind */}\n}\n",
		},
		{"comments of one line", `{"a": {/* x */ "x": 1, /* y */ "y": 2 /* end */}, "b": {"z": 1}}`, "a.y", "b.y", `{"a": {/* x */ "x": 1 /* end */}, "b": {"z": 1, /* y */ "y": 2}}`},
		{"of the only one", `{"a": {/* x */ "x": 1 /* end */}, "b": {"z": 1}}`, "a.x", "b.x", `{"a": {}, "b": {"z": 1, /* x */ "x": 1 /* end */}}`},
		{"not those of the next one", `{"a": {/* x */ "x": 1, /* y */ "y": 2}, "b": {"z": 1}}`, "a.x", "b.x", `{"a": {/* y */ "y": 2}, "b": {"z": 1, /* x */ "x": 1}}`},
		{"what is not there", boxes, "a.q", "b.q", boxes},
		{"to where it is", boxes, "a.x", "a.x", boxes},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Move([]byte(test.source), strings.Split(test.from, "."), strings.Split(test.to, "."))
			if diff := cmp.Diff(test.want, string(got)); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
	if _, err := Move([]byte(boxes), []string{"a", "x"}, []string{"b", "z"}); err == nil {
		t.Error("the other one was overwritten")
	}
}

func TestRename(t *testing.T) {
	for _, test := range []struct{ name, path, key, want string }{
		{"an object", "a", "n\"w <", strings.Replace(boxes, `"a"`, `"n\"w <"`, 1)},
		{"below", "a.x", "w", strings.Replace(boxes, `"x"`, `"w"`, 1)},
		{"to the same", "a.x", "x", boxes},
		{"what is not there", "a.q", "w", boxes},
		{"far from there", "q.q", "w", boxes},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Rename([]byte(boxes), strings.Split(test.path, "."), test.key)
			if diff := cmp.Diff(test.want, string(got)); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
	for _, wrong := range []string{"y", "\xff"} {
		if _, err := Rename([]byte(boxes), []string{"a", "x"}, wrong); err == nil {
			t.Errorf("%q was accepted", wrong)
		}
	}
	if _, err := Rename([]byte(boxes), []string{"b", "z", "q"}, "w"); err == nil {
		t.Error("a key of a number was renamed")
	}
}

func TestMapStrings(t *testing.T) {
	source := "{\"p\": [\"old\", /* c */ \"old/x\"], // d\n \"old\": {\"k\": \"old\"}, \"n\": 1}"
	var paths []string
	got, err := MapStrings([]byte(source), func(path []string, isKey bool, text string) string {
		paths = append(paths, strings.Join(path, "."))
		if isKey && text == "old" || len(path) == 2 && path[0] == "p" {
			return "new" + strings.TrimPrefix(text, "old")
		}
		return text
	})
	want := "{\"p\": [\"new\", /* c */ \"new/x\"], // d\n \"new\": {\"k\": \"old\"}, \"n\": 1}"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	if diff := cmp.Diff([]string{"p.0", "p.1", "p", "old.k", "old.k", "old", "n"}, paths); diff != "" {
		t.Error(diff)
	}
}

func TestSetFirst(t *testing.T) {
	got, err := SetFirst([]byte("{\n  \"b\": {\n    \"z\": 1\n  }\n}\n"), []string{"b", "a"}, []byte(`"x"`))
	if want := "{\n  \"b\": {\n    \"a\": \"x\",\n    \"z\": 1\n  }\n}\n"; err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}
