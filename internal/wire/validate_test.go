package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// isValid is another implementation's view of what validate accepts.
func isValid(data []byte) bool {
	return jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

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
		reason string
	}{
		{``, 0, "unexpected end"},
		{" \n", 2, "unexpected end"},
		{`[`, 1, "unexpected end"},
		{`[1`, 2, "unexpected end"},
		{`[1,`, 3, "unexpected end"},
		{`{"a":`, 5, "unexpected end"},
		{`{"a":1`, 6, "unexpected end"},
		{`{`, 1, "expected an object key"},
		{`{,`, 1, "expected an object key"},
		{`{a:1}`, 1, "expected an object key"},
		{`{"a":1,}`, 7, "expected an object key"},
		{`{"a":1,`, 7, "expected an object key"},
		{`{"a"`, 4, "expected a colon"},
		{`{"a",1}`, 4, "expected a colon"},
		{`{"a`, 3, "unexpected end in a string"},
		{`{"\x":1}`, 2, "invalid escape in a string"},
		{`[1 2]`, 3, "expected a comma or a closing bracket"},
		{`[1}`, 2, "expected a comma or a closing bracket"},
		{`{"a":1]`, 6, "expected a comma or a closing bracket"},
		{`[1:2]`, 2, "expected a comma or a closing bracket"},
		{`]`, 0, "unexpected character"},
		{`[,]`, 1, "unexpected character"},
		{`[1,]`, 3, "unexpected character"},
		{`{"a":}`, 5, "unexpected character"},
		{`x`, 0, "unexpected character"},
		{`'a'`, 0, "unexpected character"},
		{`// x`, 0, "unexpected character"},
		{"\ufeff1", 0, "unexpected character"},
		{"\u00a01", 0, "unexpected character"},
		{`tru`, 0, "unexpected character"},
		{`True`, 0, "unexpected character"},
		{`falsy`, 0, "unexpected character"},
		{`nul`, 0, "unexpected character"},
		{`NaN`, 0, "unexpected character"},
		{`-`, 0, "unexpected character"},
		{`+1`, 0, "unexpected character"},
		{`.5`, 0, "unexpected character"},
		{`-x`, 0, "unexpected character"},
		{`01`, 0, "number with a leading zero"},
		{`[-00]`, 2, "number with a leading zero"},
		{`1.`, 2, "number without digits after the point"},
		{`1.e5`, 2, "number without digits after the point"},
		{`1e`, 2, "number without digits in the exponent"},
		{`1e+`, 3, "number without digits in the exponent"},
		{`1e+x`, 3, "number without digits in the exponent"},
		{`1 1`, 2, "unexpected data after the value"},
		{`{}}`, 2, "unexpected data after the value"},
		{`truex`, 4, "unexpected data after the value"},
		{`0x10`, 1, "unexpected data after the value"},
		{"1\x00", 1, "unexpected data after the value"},
		{`"`, 1, "unexpected end in a string"},
		{`"long enough for a word`, 23, "unexpected end in a string"},
		{`"\`, 1, "invalid escape in a string"},
		{`"\"`, 3, "unexpected end in a string"},
		{`"\x"`, 1, "invalid escape in a string"},
		{`"\u12`, 1, "invalid escape in a string"},
		{`"\u12g4"`, 1, "invalid escape in a string"},
		{`"\U0041"`, 1, "invalid escape in a string"},
		{"\"a\nb\"", 2, "control character in a string"},
		{"\"\x00\"", 1, "control character in a string"},
		{"\"twelve bytes\x1f\"", 13, "control character in a string"},
	} {
		err := validate([]byte(test.text))
		syntax, ok := errors.AsType[*SyntaxError](err)
		if !ok || *syntax != (SyntaxError{test.offset, test.reason}) {
			t.Errorf("%q: %v, want %q at byte %d", test.text, err, test.reason, test.offset)
		}
		if isValid([]byte(test.text)) {
			t.Errorf("%q is valid JSON", test.text)
		}
	}
}

func TestSyntaxErrorText(t *testing.T) {
	if got, want := validate([]byte(`[1,`)).Error(), "unexpected end at byte 3"; got != want {
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
				if err == nil || !strings.Contains(err.Error(), "nesting deeper than 10000") {
					t.Errorf("%d levels: error %v", depth, err)
				}
			}
			if err := validate([]byte(strings.Repeat(shape.opening, 100_000))); err == nil {
				t.Error("unclosed levels were accepted")
			}
		})
	}
	t.Run("objects and arrays in turn", func(t *testing.T) {
		// Closing in the wrong order is seen at any depth, across the words of the bit set.
		for _, depth := range []int{1, 31, 32, 33, 63, 64, 65, MaxDepth / 2} {
			good := nested(depth, `[{"a":`, "1", `}]`)
			if err := validate([]byte(good)); err != nil {
				t.Errorf("%d levels: %v", 2*depth, err)
			}
			if err := validate([]byte(nested(depth, `[{"a":`, "1", `]}`))); err == nil {
				t.Errorf("%d levels closed in the wrong order were accepted", 2*depth)
			}
		}
	})
	t.Run("closed levels do not count", func(t *testing.T) {
		wide := `[` + strings.Repeat(nested(50, `[`, `{}`, `]`)+`,`, 1000) + `{}]`
		if err := validate([]byte(wide)); err != nil {
			t.Error(err)
		}
	})
}

// TestValidateStringBytes puts each pair of interesting bytes at each place of the words
// that a string is scanned by.
func TestValidateStringBytes(t *testing.T) {
	interesting := []byte{0, 0x01, 0x1f, 0x20, 0x21, '"', 0x23, 0x5b, '\\', 0x5d, 0x7e, 0x7f, 0x80, 0x9f, 0xa0, 0xa2, 0xdc, 0xff, 'n', 'u'}
	for before := range 9 {
		for _, a := range interesting {
			for _, b := range interesting {
				text := append([]byte(`"`+strings.Repeat("x", before)), a, b)
				text = append(text, `0041 filler"`...)
				if got, want := validate(text) == nil, isValid(text); got != want {
					t.Errorf("%q: accepted %t, want %t", text, got, want)
				}
			}
		}
	}
}

// TestValidateMutations changes, drops and doubles each byte of a text that has
// everything.
func TestValidateMutations(t *testing.T) {
	text := `{"a":[1,-2.5e+10,true,false,null,"x\u00e9\n\"",{}],"b":{"c":[[],[0]]} }`
	if !json.Valid([]byte(text)) {
		t.Fatal("the text itself is not valid")
	}
	check := func(mutant string) {
		if got, want := validate([]byte(mutant)) == nil, isValid([]byte(mutant)); got != want {
			t.Errorf("%q: accepted %t, want %t", mutant, got, want)
		}
	}
	for i := range text {
		check(text[:i])
		check(text[i:])
		check(text[:i] + text[i+1:])
		check(text[:i+1] + text[i:])
		for _, c := range []byte("{}[],:\"\\ 0-+.eEtn\x00\n\x80") {
			check(text[:i] + string([]byte{c}) + text[i+1:])
			check(text[:i] + string([]byte{c}) + text[i:])
		}
	}
}

func TestValidateDoesNotAllocate(t *testing.T) {
	data := []byte(fmt.Sprintf(`{"a":%s,"b":"%s"}`, nested(100, "[", "1", "]"), strings.Repeat(`x\n`, 1000)))
	if allocs := testing.AllocsPerRun(20, func() { _ = validate(data) }); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
