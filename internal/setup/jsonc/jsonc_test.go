package jsonc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each case is a file before, an order, and the file after.
func TestSet(t *testing.T) {
	for _, tt := range []struct{ name, source, path, value, want string }{
		{"nothing", "", "a.b", `1`, "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n"},
		{"an empty object", "{}\n", "a", `{"x":[1,2],"y":{}}`, "{\n  \"a\": {\n    \"x\": [1, 2],\n    \"y\": {}\n  }\n}\n"},
		{"a byte order mark", "\ufeff{}", "a", `1`, "\ufeff{\n  \"a\": 1\n}"},
		{"a new member comes last", "{\n  \"a\": 1\n}\n", "b", `2`, "{\n  \"a\": 1,\n  \"b\": 2\n}\n"},
		{"a trailing comma stays a habit", "{\n  \"a\": 1,\n}\n", "b", `{"c":2}`, "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": 2,\n  },\n}\n"},
		{"tabs", "{\n\t\"a\": {\n\t}\n}\n", "a.b", `{"c":2}`, "{\n\t\"a\": {\n\t\t\"b\": {\n\t\t\t\"c\": 2\n\t\t}\n\t}\n}\n"},
		{"line ends of Windows", "{\r\n    \"a\": 1\r\n}\r\n", "b.c", `2`, "{\r\n    \"a\": 1,\r\n    \"b\": {\r\n        \"c\": 2\r\n    }\r\n}\r\n"},
		{"the last member's comment stays with it", "{\n  \"a\": 1 // one\n  // more\n}\n", "b", `2`, "{\n  \"a\": 1, // one\n  \"b\": 2\n  // more\n}\n"},
		{"a comment behind a trailing comma", "{\n  \"a\": 1, /* one */ // two\n}\n", "b", `2`, "{\n  \"a\": 1, /* one */ // two\n  \"b\": 2,\n}\n"},
		{"all on one line", `{"a": 1, "b": {}}`, "b.c", `{"d": [1, 2]}`, `{"a": 1, "b": {"c": {"d": [1, 2]}}}`},
		{"without any space", `{"a":{"b":1}}`, "a.c", `{"d": [1, 2]}`, `{"a":{"b":1,"c":{"d":[1,2]}}}`},
		{"one line that ends with a comma", `{"a": 1,}`, "b", `2`, `{"a": 1, "b": 2,}`},
		{"one line with a comment at its end", "{\"a\": 1 // one\n}", "b", `2`, "{\"a\": 1, // one\n  \"b\": 2\n}"},
		{"one line with a comment inside", `{"a": 1 /* one */}`, "b", `2`, `{"a": 1 /* one */, "b": 2}`},
		{"an object on one line in a file of many", "{\n  \"a\": {\"x\": {}}\n}\n", "a.x.y", `1`, "{\n  \"a\": {\"x\": {\n    \"y\": 1\n  }}\n}\n"},
		{"servers have a line each", "{\n  \"a\": {\"command\": \"x\"}\n}\n", "b", `{"command":"y","args":["z"]}`, "{\n  \"a\": {\"command\": \"x\"},\n  \"b\": {\"command\": \"y\", \"args\": [\"z\"]}\n}\n"},
		{"space inside of brackets", "{\n  \"a\": { \"command\": \"x\" }\n}\n", "b", `{"args":["z"],"env":{}}`, "{\n  \"a\": { \"command\": \"x\" },\n  \"b\": { \"args\": [\"z\"], \"env\": {} }\n}\n"},
		{"elements have a line each", "{\n  \"a\": [\n    1\n  ]\n}\n", "b", `[1,2]`, "{\n  \"a\": [\n    1\n  ],\n  \"b\": [\n    1,\n    2\n  ]\n}\n"},
		{"a replaced value", "{\n  \"a\": 1, // one\n  \"b\": 2\n}\n", "a", `{"x": true}`, "{\n  \"a\": {\n    \"x\": true\n  }, // one\n  \"b\": 2\n}\n"},
		{"a replaced value on a line", "{\n  \"a\": {\"x\": 1}\n}\n", "a", `{"y":2}`, "{\n  \"a\": {\"y\": 2}\n}\n"},
		{"the same value", "{ \"a\" :  [1,\n2] }", "a", `[1, 2]`, "{ \"a\" :  [1,\n2] }"},
		{"a key that is written with escapes", `{"\u0061": 1}`, "a", `2`, `{"\u0061": 2}`},
		{"an empty object with a comment", "{\n  \"a\": { // here\n  }\n}\n", "a.b", `1`, "{\n  \"a\": { // here\n    \"b\": 1\n  }\n}\n"},
		{"an empty object with a comment on its line", "{\n  \"a\": { /* here */ }\n}\n", "a.b", `1`, "{\n  \"a\": { /* here */\n    \"b\": 1\n  }\n}\n"},
		{"the closing bracket on the last line", "{\"a\": 1,\n \"b\": 2}", "c", `3`, "{\"a\": 1,\n \"b\": 2,\n \"c\": 3}"},
		{"comment without a line end", "{\n  \"a\": 1\n}\n// end", "b", `2`, "{\n  \"a\": 1,\n  \"b\": 2\n}\n// end"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Set([]byte(tt.source), strings.Split(tt.path, "."), []byte(tt.value))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRemove(t *testing.T) {
	for _, tt := range []struct{ name, source, path, want string }{
		{"the last", "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "b", "{\n  \"a\": 1\n}\n"},
		{"the last with a trailing comma", "{\n  \"a\": 1,\n  \"b\": 2,\n}\n", "b", "{\n  \"a\": 1,\n}\n"},
		{"the first", "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "a", "{\n  \"b\": 2\n}\n"},
		{"the only one", "{\n  \"a\": {\n    \"b\": 2\n  }\n}\n", "a.b", "{\n  \"a\": {}\n}\n"},
		{"its comments", "{\n  // about a\n  \"a\": 1, // one\n\n  // about b,\n  /* with\n\n  more */\n  \"b\": 2 // two\n  // rest\n}\n", "b", "{\n  // about a\n  \"a\": 1 // one\n\n  // rest\n}\n"},
		{"comments of others", "{\n  \"a\": 1, // one\n  // general\n\n  // about b\n  \"b\": 2,\n  // about c\n  \"c\": 3\n}\n", "b", "{\n  \"a\": 1, // one\n  // general\n\n  // about c\n  \"c\": 3\n}\n"},
		{"one of two blank lines", "{\n  \"a\": 1,\n\n  \"b\": 2,\n\n  \"c\": 3\n}\n", "b", "{\n  \"a\": 1,\n\n  \"c\": 3\n}\n"},
		{"line ends of Windows", "{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}\r\n", "b", "{\r\n  \"a\": 1\r\n}\r\n"},
		{"the first on a line", `{ "a": 1, "b": 2 }`, "a", `{ "b": 2 }`},
		{"in the middle of a line", `{ "a": 1, "b": 2, "c": 3 }`, "b", `{ "a": 1, "c": 3 }`},
		{"the last of a line", `{ "a": 1, "b": 2 }`, "b", `{ "a": 1 }`},
		{"the only one of a line", `{ "a": { "b": 1 } }`, "a.b", `{ "a": {} }`},
		{"the last of a line with a trailing comma", `{"a": 1, "b": 2,}`, "b", `{"a": 1,}`},
		{"with the closing bracket on its line", "{\"a\": 1,\n \"b\": 2}", "b", `{"a": 1}`},
		{"with the closing bracket behind a comment", "{\"a\": 1, // one\n \"b\": 2}", "b", "{\"a\": 1 // one\n}"},
		{"with the next on its line", "{\n  // about b\n  \"b\": 2, \"c\": 3\n}", "b", "{\n  \"c\": 3\n}"},
		{"a first one whose line ends", "{\"a\": 1, // one\n \"b\": 2}", "a", "{\n \"b\": 2}"},
		{"what is not there", "{\"a\": 1}", "b.c", "{\"a\": 1}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Remove([]byte(tt.source), strings.Split(tt.path, "."))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	set := func(source, path, value string) error {
		_, err := Set([]byte(source), strings.Split(path, "."), []byte(value))
		return err
	}
	remove := func(source, path string) error {
		_, err := Remove([]byte(source), strings.Split(path, "."))
		return err
	}
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"a value in the way", set(`{"a": {"b": 1}}`, "a.b.c", "1"), "a.b is not an object"},
		{"no object at the top", set(`[]`, "a", "1"), "the file's top level is not an object"},
		{"a key that is there twice", set(`{"a": 1, "a": 2}`, "a", "1"), "a is there twice; remove one of them"},
		{"removing a key that is there twice", remove(`{"a": 1, "a": 2}`, "a"), "a is there twice; remove one of them"},
		{"no JSON", set("{\n  \"token\": secret\n}", "a", "1"), "invalid JSON at line 2, column 12"},
		{"a value that is no JSON", set(`{}`, "a", "x"), "the new value of a is not JSON: invalid JSON at line 1, column 1"},
		{"too deep", set(strings.Repeat("[", 501), "a", "1"), "the JSON is nested more than 500 levels deep"},
		{"removing from what is no object", remove(`{"a": 1}`, "a.b"), "a is not an object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.err == nil || tt.err.Error() != tt.want {
				t.Errorf("got %v, want %s", tt.err, tt.want)
			}
		})
	}
}

func TestRestore(t *testing.T) {
	const earlier = "{\"m\": {\n  \"a\": 1,\n  // of b\n  \"b\": [1, {\"x\": 2}], // mine\n  \"c\": 3\n}}"
	for _, test := range []struct {
		name, source string
		index        int
		want         string
	}{
		{"in the middle", "{\"m\": {\n  \"a\": 1,\n  \"c\": 3\n}}", 1, "{\"m\": {\n  \"a\": 1,\n  // of b\n  \"b\": [\n    1,\n    {\n      \"x\": 2\n    }\n  ], // mine\n  \"c\": 3\n}}"},
		{"first", "{\"m\": { // all\n  // of c\n  \"c\": 3\n}}", 0, "{\"m\": { // all\n  // of b\n  \"b\": [\n    1,\n    {\n      \"x\": 2\n    }\n  ], // mine\n  // of c\n  \"c\": 3\n}}"},
		{"last", "{\"m\": {\n  \"a\": 1 // one\n}}", 9, "{\"m\": {\n  \"a\": 1, // one\n  // of b\n  \"b\": [\n    1,\n    {\n      \"x\": 2\n    }\n  ] // mine\n}}"},
		{"on one line", `{"m": {"a": 1, "c": 3}}`, 1, `{"m": {"a": 1, "b": [1, {"x": 2}], "c": 3}}`},
		{"first on one line", `{"m": {"c": 3}}`, 0, `{"m": {"b": [1, {"x": 2}], "c": 3}}`},
		{"into nothing", "{\n  \"m\": {}\n}", 0, "{\n  \"m\": {\n    // of b\n    \"b\": [\n      1,\n      {\n        \"x\": 2\n      }\n    ] // mine\n  }\n}"},
		{"with what holds it", `{"z": 1}`, 0, `{"z": 1, "m": {"b": [1, {"x": 2}]}}`},
	} {
		got, err := Restore([]byte(test.source), []byte(earlier), []string{"m", "b"}, test.index)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", test.name, err, got, test.want)
		}
	}
	if got, err := Restore([]byte(`{}`), []byte(earlier), []string{"m", "z"}, 0); err != nil || string(got) != `{}` {
		t.Errorf("what was not there: %s, %v", got, err)
	}
}
