package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// isValid is another implementation's view of what validate accepts.
func isValid(data []byte) bool { return json.Valid(data) }

func TestValidateAccepts(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `{ }`, `[ ]`, "[\t\r\n ]", `""`, `true`, `false`, `null`, ` null `, "\n1\r\n",
		`[1]`, `[1,2]`, `[ 1 , 2 ]`, `[[],[[]],{}]`, `{"a":1}`, `{ "a" : 1 , "b" : [ ] }`, `{"a":{"a":{}}}`,
		// Whether keys repeat or are empty is not ours to judge.
		`{"a":1,"a":2}`, `{"":0}`,
		// Numbers of any size and precision.
		`0`, `-0`, `-1`, `10`, `1.0`, `0.5`, `1e400`, `1E+5`, `1e-5`, `1.25e07`, `9007199254740993`, `-0.0e-0`,
		`123456789012345678901234567890.123456789012345678901234567890`,
		// Strings.
		`"\"\\\/\b\f\n\r\t"`, `"\u0041\uabcd\uABCD"`, `"\u0000"`, `"\ud83d\ude00"`, `"\ud800"`, `"\udc00\ud800"`, "\"\x7f\"", "\"\u2028\"",
		"\"\xff\"", // text is the business of Parse
	} {
		if err := validate([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	for _, test := range []struct {
		text   string
		offset int
	}{
		{``, 0},
		{" \n", 2},
		{`[`, 1},
		{`{"a":1`, 6},
		{`{,`, 1},
		{`{a:1}`, 1},
		{`{"a":1,}`, 7},
		{`{"a",1}`, 4},
		{`{"\x":1}`, 2},
		{`[1 2]`, 3},
		{`[1}`, 2},
		{`]`, 0},
		{`'a'`, 0},
		{`// x`, 0},
		{"\ufeff1", 0},
		{`True`, 0},
		{`NaN`, 0},
		{`-x`, 1},
		{`01`, 2},
		{`1.e5`, 2},
		{`1 1`, 3},
		{`{}}`, 2},
		{`"long enough for a word`, 23},
		{`"\u12g4"`, 1},
		{"\"a\nb\"", 2},
	} {
		err := validate([]byte(test.text))
		syntax, ok := errors.AsType[*SyntaxError](err)
		if !ok || syntax.Offset != test.offset || syntax.Reason == "" {
			t.Errorf("%q: %v, want an error at byte %d", test.text, err, test.offset)
		}
		if isValid([]byte(test.text)) {
			t.Errorf("%q is valid JSON", test.text)
		}
	}
}

func TestSyntaxErrorText(t *testing.T) {
	got := validate([]byte(`{"id":7,}`)).Error()
	if want := "invalid character '}' at start of string (expecting '\"') at byte 8"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestValidateDepth(t *testing.T) {
	for _, shape := range []struct{ name, opening, closing string }{
		{"arrays", `[`, `]`},
		{"objects", `{"a":`, `}`},
		{"spaced", "[\n", " ]"},
	} {
		t.Run(shape.name, func(t *testing.T) {
			deepest := nested(MaxDepth, shape.opening, "1", shape.closing)
			if err := validate([]byte(deepest)); err != nil || !isValid([]byte(deepest)) {
				t.Errorf("%d levels: %v, valid elsewhere: %t", MaxDepth, err, isValid([]byte(deepest)))
			}
			for _, depth := range []int{MaxDepth + 1, 100_000} {
				err := validate([]byte(nested(depth, shape.opening, "1", shape.closing)))
				if err == nil || !strings.Contains(err.Error(), "max depth") {
					t.Errorf("%d levels: error %v", depth, err)
				}
			}
			if err := validate([]byte(strings.Repeat(shape.opening, 100_000))); err == nil {
				t.Error("unclosed levels were accepted")
			}
		})
	}
	t.Run("closed levels do not count", func(t *testing.T) {
		wide := `[` + strings.Repeat(nested(50, `[`, `{}`, `]`)+`,`, 1000) + `{}]`
		if err := validate([]byte(wide)); err != nil {
			t.Error(err)
		}
	})
}
