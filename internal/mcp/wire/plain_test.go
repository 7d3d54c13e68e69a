package wire

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

var plainValues = []string{
	`{}`, `[]`, ` [ ] `, `{"a":1}`, `{ "a" : [ 1 , {"b":null} ] , "c":"d" }`, `"x"`, `0`, `-0`, `1.5e-10`, `true`, "\t{\"a\":\t[]} ",
	`[[[[{"a":[{}]}]]]]`, `{"a":"\"\\\/\b\f\n\r\t\u00e9\uD800"}`, `"` + strings.Repeat("x", 1000) + `\n` + strings.Repeat("é", 100) + `"`,
	`[` + strings.Repeat(`{"k":[1,2,"three",false]},`, 50) + `0]`,
}

var brokenValues = []string{
	``, ` `, `{`, `}`, `[`, `]`, `{]`, `[}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[,1]`, `{,}`, `{1:2}`, `"`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`,
	"\"a\nb\"", "\"" + strings.Repeat("x", 40) + "\x1f\"", "\"" + strings.Repeat("x", 28) + "\x00" + strings.Repeat("x", 40) + "\"",
	`01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `tru`, `nul`, `truee`, `1 2`, `{}{}`, `{"a":1 "b":2}`, `[1 2]`, `{"a" 1}`, `[[]`, `"a" "b"`, `NaN`,
}

// brokenLines are valid, but have line ends that have to be taken out.
var brokenLines = []string{"{\n}", "[1,\r\n2]", "{}\n", "\r{}", "{\"a\"\n:1}", "{\"a\":1\n}", "[1\n]"}

func TestIsPlain(t *testing.T) {
	for _, text := range plainValues {
		if !isPlain([]byte(text)) {
			t.Errorf("%.60s is not plain", text)
		}
	}
	for _, text := range slices.Concat(brokenValues, brokenLines) {
		if isPlain([]byte(text)) {
			t.Errorf("%.60q is plain", text)
		}
	}
}

// What nests too deep for the fast check is still judged right.
func TestDeepValues(t *testing.T) {
	for _, depth := range []int{maxPlainDepth - 2, maxPlainDepth, 2 * maxPlainDepth} {
		text := strings.Repeat(`[{"a":`, depth/2) + "1" + strings.Repeat("}]", depth/2)
		if _, _, err := check(NewFrame([]byte(text))); err != nil {
			t.Errorf("depth %d: %v", depth, err)
		}
		if _, _, err := check(NewFrame([]byte(text[:len(text)-1]))); err == nil {
			t.Errorf("depth %d: a value without its end is valid", depth)
		}
	}
}

// FuzzIsPlain holds the fast check against the library: what it accepts must be valid.
func FuzzIsPlain(f *testing.F) {
	for _, text := range plainValues {
		f.Add([]byte(text))
	}
	for _, text := range slices.Concat(brokenValues, brokenLines) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		valid := jsontext.Value(data).IsValid(duplicatesPass, halfCharacterPass)
		lines := bytes.ContainsAny(data, "\r\n")
		if plain := isPlain(data); plain && (!valid || lines) {
			t.Errorf("%q is taken for plain", data)
		} else if !plain && valid && !lines && len(data) < maxPlainDepth {
			t.Errorf("%q is not known", data)
		}
	})
}
