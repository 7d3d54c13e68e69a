package jsonc

import "testing"

func TestMerge(t *testing.T) {
	for _, test := range []struct {
		name, base, changed, now, want string
		ok                             bool
	}{
		{"both in other places", "a\nb\nc\nd\ne\n", "a\nc\nd\ne\n", "a\nb\nc\nd\nx\n", "a\nc\nd\nx\n", true},
		{"a line comes back", "a\nc\nd\n", "a\nb\nc\nd\n", "a\nc\nd\ne\n", "a\nb\nc\nd\ne\n", true},
		{"only one", "a\nb\n", "a\n", "a\nb\n", "a\n", true},
		{"the same line", "a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n", "", false},
		{"lines side by side", "a\nb\nc\nd\n", "a\nx\nc\nd\n", "a\nb\ny\nd\n", "", false},
		{"at one place", "a\n", "a\nx\n", "a\ny\n", "", false},
		{"nothing", "", "", "", "", true},
	} {
		got, ok := Merge([]byte(test.base), []byte(test.changed), []byte(test.now))
		if string(got) != test.want || ok != test.ok {
			t.Errorf("%s: %q, %v", test.name, got, ok)
		}
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
