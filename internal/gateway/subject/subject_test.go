package subject

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func subjectOf(arguments string) Subject {
	return New(toolbox.Ref{Name: "t"}, wire.Raw([]byte("{}")), wire.Raw([]byte(arguments)))
}

func TestSameArguments(t *testing.T) {
	seen := make(map[Subject]string)
	for _, group := range [][]string{
		{``, `{}`, `{ }`},
		{`{"a":null}`},
		{`{"a":1}`, `{"a":1.0}`, `{"a":1e0}`, `{"a":10E-1}`, `{"a":0.1e+1}`, `{"a":0.00001e5}`},
		{`{"a":-1}`},
		{`{"a":"1"}`},
		{`{"a":[1]}`},
		{`{"a":[[1]]}`},
		{`{"a":true}`},
		{`{"a":false}`},
		{`{"a":0}`, `{"a":-0}`, `{"a":0.000}`, `{"a":0e99}`},
		{`{"a":10000000000000000000000001}`, `{"a":1.0000000000000000000000001e25}`},
		{`{"a":10000000000000000000000002}`},
		{`{"a":1e400}`},
		{`{"a":1e401}`, `{"a":10e400}`},
		{`{"a":1e-400}`},
		{`{"a":"x","b":"y"}`, `{"b":"\u0079","\u0061":"x"}`},
		{`{"a":"y","b":"x"}`},
		{`{"a":{"b":"y"}}`},
		{`{"a":"x\",\"b\":\"y"}`},
		{`{"a":[1,2]}`},
		{`{"a":[2,1]}`},
		{`{"a":[12]}`},
		{`{"a":["1,2"]}`},
		{`{"a":[]}`},
		{`{"a":{}}`},
		{`{"a":""}`},
		{`{"a":"/"}`, `{"a":"\/"}`},
		{`{"a":"😀"}`, `{"a":"\ud83d\ude00"}`},
		{`{"A":1}`},
		{`{"a":"é"}`, `{"a":"\u00e9"}`},
		{`{"a":"e\u0301"}`},
	} {
		for _, other := range group[1:] {
			if subjectOf(group[0]) != subjectOf(other) {
				t.Errorf("%s is not the same as %s", group[0], other)
			}
		}
		same := subjectOf(group[0])
		if before, ok := seen[same]; ok {
			t.Errorf("%s is the same as %s", group[0], before)
		}
		seen[same] = group[0]
	}
}

// However a value is written, it is the same; and another one is not.
func FuzzSameArguments(f *testing.F) {
	f.Add([]byte(`{"b":[1,-2.5e3,null,{"c":"d"}],"a":"\n"}`), []byte(`{}`))
	f.Add([]byte(`{"a":1e-7}`), []byte(`{"a":0.0000001}`))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		first, firstText, ok := decoded(one)
		if !ok {
			return
		}
		whole := subjectOf(string(first))
		if whole != subjectOf(string(first)) {
			return // odd
		}
		var spaced bytes.Buffer
		if json.Indent(&spaced, first, "", "\t") == nil && subjectOf(spaced.String()) != whole {
			t.Errorf("%s is not the same with spaces", first)
		}
		if second, secondText, ok := decoded(two); ok && secondText != firstText && subjectOf(string(second)) == whole && !hasNumber(firstText) {
			t.Errorf("%s is the same as %s", first, second)
		}
	})
}

// decoded returns a value as it was written, and in a form of its own.
func decoded(text []byte) (raw []byte, own string, ok bool) {
	value, err := wire.ParseValue(text)
	if err != nil || value.Kind() != "object" {
		return nil, "", false
	}
	decoder := json.NewDecoder(bytes.NewReader(value.Bytes()))
	decoder.UseNumber()
	var read any
	if decoder.Decode(&read) != nil {
		return nil, "", false
	}
	again, err := json.Marshal(read)
	return value.Bytes(), string(again), err == nil
}

func hasNumber(text string) bool { return bytes.ContainsAny([]byte(text), "0123456789") }
